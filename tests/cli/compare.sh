#!/usr/bin/env bash
# Models side by side: differences and their errors from the pointwise values;
# what is not of the same data is refused.
source "$GBM_ROOT/tests/cli/lib"

for mean in 'a + b * x[i]' 'a'; do
    cat >model.gbm <<E
model {
  for (i in 1:20) { y[i] ~ dnorm($mean, 1) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
}
E
    status 0 "$GBMC" -O 0 model.gbm -o "${mean:0:1}${#mean}"
done
mv a12 line && mv a1 flat
python3 -c '
x = [i / 4 for i in range(20)]
y = [0.7 * v + (i * 7 % 5 - 2) / 2 for i, v in enumerate(x)]
print({"x": x, "y": y})' | tr \' \" >data.json
sed 's/\[/[9, /2' data.json | sed 's/, [-0-9.]*\]}/]}/' >other.json
go() { # MODEL DATA OUT
    status 0 ./"$1" --data "$2" --quiet --draws 200 --device cpu --log-lik \
        --out "$3.nc" --summary "$3.json"
}
go line data.json line
go flat data.json flat
go flat other.json other
status 0 ./flat compare flat.nc line.nc --summary both.json
prints '^line.nc +0\.0 +0\.0 '
prints '^flat.nc +-[0-9]'
prints '^line.nc predicts best of the 2; the next is [0-9.]+ standard errors'
prints 'less than 100 observations'
python3 - <<'E' || fail "differences"
import json
line, flat, both = (json.load(open(f + ".json")) for f in ("line", "flat",
                                                           "both"))
of = lambda f: [o["elpd"] for o in f["loo"]["observations"].values()]
d = [b - a for a, b in zip(of(line), of(flat))]
m = both["models"]
assert list(m) == ["line.nc", "flat.nc"] and len(d) == 20
assert abs(m["flat.nc"]["elpd_diff"] - sum(d)) < 1e-6
mean = sum(d) / 20
assert abs(m["flat.nc"]["se_diff"] -
           (20 / 19 * sum((x - mean) ** 2 for x in d)) ** 0.5) < 1e-6
assert m["line.nc"]["elpd_diff"] == m["line.nc"]["se_diff"] == 0
assert abs(m["line.nc"]["elpd_loo"] - line["loo"]["elpd"]) < 1e-6
assert m["flat.nc"]["se"] == flat["loo"]["se"]
E

status 1 ./line compare line.nc other.nc
says 'line.nc and other.nc are of different data'
status 1 ./line compare line.nc
says 'compare: two files or more are wanted'
status 1 ./line compare line.nc none.nc
says 'none.nc: cannot read'
status 0 ./flat --data data.json --quiet --draws 20 --out without.nc
status 1 ./line compare line.nc without.nc
says 'without.nc: it has no log likelihoods: run with --log-lik'
E=$(sed 's/"x": \[[^]]*\], //; s/, [-0-9.]*\]}/, null]}/' data.json)
echo "$E" >short.json
go flat short.json short
status 1 ./line compare line.nc short.nc
says 'line.nc has 20 observations, short.nc 19'
