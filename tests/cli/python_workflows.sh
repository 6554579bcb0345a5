#!/usr/bin/env bash
# Scripts of the Python package as people write them, with known results.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/python_lib"
"$python" -W ignore -m pytest -q -p no:cacheprovider -rs \
    tests/test_workflows.py
