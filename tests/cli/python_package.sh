#!/usr/bin/env bash
# The Python package: its tests, the examples in its texts and in docs/python.md.
# $GBM_PYTHON names a Python that has more than this machine's: ArviZ, pandas.
source "$GBM_ROOT/tests/cli/lib"
python=${GBM_PYTHON:-python3}
if [ "$GBM_BUILD" != build ]; then
    echo "only for the plain build"
    exit 77
fi
"$python" -c 'import numpy, pytest' 2>.err || {
    echo "$python has no numpy or no pytest: $(tail -n 1 .err)"
    exit 77
}
unset GBM_HOME
export GBM_CACHE=$scratch/cache PYTHONDONTWRITEBYTECODE=1 TMPDIR=$scratch
cd "$GBM_ROOT/python" || exit 1
"$python" -W ignore -m pytest -q -p no:cacheprovider -rs \
    --deselect tests/test_workflows.py gbm tests ../docs/python.md \
    --doctest-glob=python.md
