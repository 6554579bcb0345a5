#!/usr/bin/env bash
# What the model has no name for may be anything in the data; what it has a name
# for must be numbers.
source "$GBM_ROOT/tests/cli/lib"

cat >m.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], 1) }
  a ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
}
E
cat >plain.json <<'E'
{"N": 3, "x": [1, 2, 3], "y": [1, null, 4]}
E
cat >more.json <<'E'
{"about": {"by": "a \"b\" }", "parts": [1, {"c": []}]}, "N": 3, "w": NaN,
 "site": ["a", "b"], "x": [1, 2, 3], "ragged": [[1], [2, 3]],
 "y": [1, null, 4], "title": "]"}
E
cat >more.R <<'E'
title <- "wells"; N <- 3
f <- structure(list(a = c("u", "v")), class = "data.frame")
x <- c(1, 2, 3)
y <- c(1, NA, 4)
E
cat >more.csv <<'E'
x,site,plot,y
1,NA,12,1
2,b,13,NA
3,4,13a,4
E
echo '{"N": 3}' >n.json
status 0 "$GBMC" -O 0 m.gbm -o m --data more.json
draws() { # NAME FILE...: the draws with these data
    local name=$1
    shift
    status 0 ./m "${@/#/--data=}" --draws 20 --threads 1 --progress none --out "$name.csv"
    mv .err "$name.said"
    grep -v '^#' "${name}_1.csv" >"$name.draws"
}
draws plain plain.json
for f in more.json more.R; do
    draws "$f" "$f"
    same plain.draws "$f.draws"
done
draws csv more.csv n.json
same plain.draws csv.draws
grep -q "'about' is left out: .* the model does not use it" more.json.said ||
    fail "no note of about"
grep -q "'f' is left out" more.R.said || fail "no note of f"
grep -q 'plot. has text and is left out' csv.said || fail "no note of plot"

# of starting values, too
echo '{"a": 1, "note": "first"}' >init.json
status 0 ./m --data plain.json --init init.json --draws 5 --quiet

refused() { # DATA PATTERN
    status 1 ./m --data bad.json --draws 5 --quiet
    says "$1"
}
sed 's/\[1, null, 4\]/"1"/' more.json >bad.json
refused "'y' has text"
sed 's/\[1, null, 4\]/[1, NaN, 4]/' more.json >bad.json
refused 'y\[2\] = NaN'
sed 's/"a", "b"\]/"a", "b"/' more.json >bad.json
refused 'bad.json:.*expected'
sed '2s/13/x/;s/^2,b,13,NA/2,b,13,two/' more.csv >bad.csv
status 1 ./m --data bad.csv --data n.json --draws 5 --quiet
says "bad.csv:3:8: 'two' in column 4, y is not a number"

# a name in other letters
sed 's/"N"/"n"/' plain.json >bad.json
refused 'N must be supplied.*is it n\?'
echo '{"N": 3, "x": [1, 2, 3], "Y": [1, 2, 4]}' >other.json
status 0 ./m --data other.json --draws 5
says 'no data for y: it is drawn; is it Y\?'

# data beyond what statements define: said. The start of a recursion before it is
# no such thing, nor is what vectors define.
echo '{"N": 2, "x": [1, 2, 3], "y": [1, null, 4]}' >short.json
status 0 ./m --data short.json --draws 5
says 'note: y has extent 3 in dimension 1 \(short.json\), but its statements go up to 2'
cat >path.gbm <<'E'
model {
  for (t in 2:N) {
    for (k in 1:2) { y[t,k] ~ dnorm(a * y[t-1,k], 1) }
  }
  for (i in 1:N) { z[i,1:2] ~ dmnorm(zero[], T[,]) }
  a ~ dnorm(0, 1)
}
E
echo '{"N": 3, "y": [[1, 2], [1, 2], [3, 3]], "z": [[1, 2], [1, 2], [3, 3]],
 "zero": [0, 0], "T": [[1, 0], [0, 1]]}' >path.json
echo '{"N": 3, "y": [[1, 2, 0], [1, 2, 0], [3, 3, 0]],
 "z": [[1, 2], [1, 2], [3, 3]], "zero": [0, 0], "T": [[1, 0], [0, 1]]}' >wide.json
status 0 "$GBMC" -O 0 path.gbm -o path
status 0 ./path --data path.json --draws 5
grep -q 'has extent' .err && fail "a note of what is used"
status 0 ./path --data wide.json --draws 5
says 'note: y has extent 3 in dimension 2 \(wide.json\), but its statements go up to 2'
[ "$(grep -c 'has extent' .err)" = 1 ] || fail "more than one note"
exit 0
