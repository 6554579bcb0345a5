#!/usr/bin/env bash
# The Python package: its tests, the examples in its texts and in docs/python.md.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/python_lib"
"$python" -W ignore -m pytest -q -p no:cacheprovider -rs \
    --deselect tests/test_workflows.py gbm tests ../docs/python.md \
    --doctest-glob=python.md
