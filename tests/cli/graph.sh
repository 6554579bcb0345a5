#!/usr/bin/env bash
# What --dag draws: plates as clusters, one colour a step, shaded observations.
source "$GBM_ROOT/tests/cli/lib"

has() { grep -qE -- "$2" "$1" || { cat "$1"; fail "$1 has no line like: $2"; }; }
attribute() { # FILE LABEL ATTRIBUTE: its value
    grep -F "label=\"$2" "$1" | sed -E "s/.*$3=\"?([^\",]*)\"?[],].*/\1/"
}
node() { grep -F "label=\"$2" "$1" | sed -E 's/^ *([^ ]*) .*/\1/'; }

status 0 "$GBMC" --dag=rats.dot "$examples/rats/rats.gbm"
[ "$(attribute rats.dot 'alpha[i]' fillcolor)" = \
    "$(attribute rats.dot 'beta[i]' fillcolor)" ] ||
    fail "a block has one colour"
[ "$(attribute rats.dot 'tau.c' fillcolor)" != \
    "$(attribute rats.dot 'beta[i]' fillcolor)" ] ||
    fail "two steps have one colour"
[ "$(attribute rats.dot 'Y[i,j]' fillcolor)" = '#cccccc' ] ||
    fail "observations are shaded"
[ "$(attribute rats.dot 'mu[i,j]' style)" = dashed ] ||
    fail "computed nodes are dashed"
[ "$(attribute rats.dot 'x.bar' shape)" = box ] || fail "given: a box"
has rats.dot "^ *$(node rats.dot 'alpha[i]') -> $(node rats.dot 'mu[i,j]')"
has rats.dot "^ *$(node rats.dot 'mu[i,j]') -> $(node rats.dot 'Y[i,j]')"
grep -qE "^ *$(node rats.dot 'alpha[i]') -> $(node rats.dot 'Y[i,j]')" \
    rats.dot && fail "alpha reaches Y through mu alone"
has rats.dot '^  subgraph cluster_0' # i, and inside it j
has rats.dot '^    subgraph cluster_1'

status 0 "$GBMC" --dag=hsp.dot \
    "$examples/horseshoe_probit/horseshoe_probit.gbm"
has hsp.dot 'label="y.z\[i\].*style="filled,dotted"'
has hsp.dot "^ *$(node hsp.dot 'y[i]') -> $(node hsp.dot 'y.z[i]') .*dir=none"

# nothing is left behind, whatever fails
mkdir empty
status 2 env PATH="$PWD/empty" "$GBMC" --dag=empty/rats.svg \
    "$examples/rats/rats.gbm"
says 'graphviz'
[ -z "$(ls empty)" ] || fail "files were left: $(ls empty)"
status 2 "$GBMC" --dag=nowhere/rats.svg "$examples/rats/rats.gbm"
says 'cannot write'
