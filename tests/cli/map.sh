#!/usr/bin/env bash
# The map of the rooms tells of files that are there: each name of a source file
# in docs/architecture.md is one, or the end of one ("_moves.c"), or a pattern.
source "$GBM_ROOT/tests/cli/lib"

cat >missing.py <<'E'
"""missing.py ROOT TEXT: names of files in TEXT that no file of ROOT has."""
import fnmatch, os, re, sys
root, text = sys.argv[1:]
files = []
for folder, below, names in os.walk(root):
    below[:] = [b for b in below if b not in ("build", ".git")]
    files += [os.path.join(folder, n) for n in names]
named = set(re.findall(r"`([\w./*{}-]+\.(?:c|h|l|y|sh|py|cu|ninja))`",
                       open(text).read()))
assert len(named) > 300, "the text names few files"
for name in sorted(named):
    shape = name if name.startswith("_") else "/" + name
    if not any(fnmatch.fnmatchcase(f, "*" + shape) for f in files):
        print(name)
E
map=$GBM_ROOT/docs/architecture.md
status 0 python3 missing.py "$GBM_ROOT" "$map"
[ ! -s .out ] || fail "the map names files that are not there"

# shellcheck disable=SC2016 # backquotes are the text's
sed 's/`roll_shape\.c`/`roll_shapes.c`/' "$map" >wrong.md
status 0 python3 missing.py "$GBM_ROOT" wrong.md
[ "$(cat .out)" = roll_shapes.c ] || fail "a file that went is not noticed"
