#!/usr/bin/env bash
# --dag writes a graph; --explain and every --emit print.
source "$GBM_ROOT/tests/cli/lib"
pump=$examples/pump/pump.gbm

status 0 "$GBMC" --dag=pump.dot "$pump"
exists pump.dot
grep -q digraph pump.dot || fail "not a graph"
if command -v dot >/dev/null; then
    dot -Tsvg pump.dot -o check.svg || fail "dot does not read pump.dot"
    status 0 "$GBMC" --dag=pump.svg "$pump"
    grep -q '<svg' pump.svg || fail "not a picture"
fi
status 1 "$GBMC" --dag=pump.png "$pump"
says 'pump.png: the file ends in .svg .*or .dot'
absent pump.png
status 0 "$GBMC" --explain "$pump"
prints 'theta'
for pass in ast dag conditionals plan c cuda; do
    status 0 "$GBMC" --emit=$pass "$pump"
    prints 'theta'
    cp .out $pass.1
    status 0 "$GBMC" --emit=$pass "$pump"
    same .out $pass.1
done

# What the compiler alone has names for, as sums over data, is not in the picture;
# what reads it is beside what it is made of.
status 0 "$GBMC" --dag=line.dot "$examples/line/line.gbm"
grep -q '"x.bar"' line.dot || fail "no node of the model's own"
[ "$(grep -c 'label=' line.dot)" = 9 ] || fail "more than the model has"
status 0 "$GBMC" --dag=walks.dot "$examples/tvp_var/tvp_var.gbm"
node() { sed -n "s/^ *\(n[0-9]*\) \[label=\"$1.*/\1/p" walks.dot | head -n 1; }
grep -q "$(node Omega) -> $(node Sigma);" walks.dot || fail "no edge to an inverse"
grep -q inverse walks.dot && fail "an inverse with a name"
exit 0
