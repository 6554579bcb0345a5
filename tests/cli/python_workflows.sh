#!/usr/bin/env bash
# Scripts of the Python package as people write them, with known results.
# $GBM_PYTHON: as in python_package.sh.
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
    tests/test_workflows.py
