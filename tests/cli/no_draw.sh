#!/usr/bin/env bash
# A distribution that does not tell how to draw from it: what has no data is
# sampled with the rest, as nothing can draw it forward.
source "$GBM_ROOT/tests/cli/lib"

cat >triangle.gbm <<'E'
distribution triangle(w) {
  require w > 0
  support real(-w, w)
  logdensity log(w - abs(x)) - 2 * log(w)
  mean 0
}
model {
  for (t in 1:3) { b[t] ~ triangle(w) }
  w ~ dunif(0.2, 2.5)
}
E
echo '{"b": [0.3, null, null]}' >some.json
echo '{"b": [0.3, -0.1, 0.7]}' >all.json
status 0 "$GBMC" --explain triangle.gbm -o triangle
prints 'b +3 +slice'
agrees triangle.gbm some.json

# none are seen: w is as its prior has it, E(b^2 | w) = w^2 / 6
status 0 "$GBMC" triangle.gbm -o sampler
status 0 ./sampler --quiet --draws 10000 --summary none.json
python3 - <<'E' || fail "without data the moments are not the prior's"
import json
p = json.load(open("none.json"))["parameters"]
second = (2.5 ** 3 - 0.2 ** 3) / (3 * 2.3) / 6
for name, mean, sd in (("w", 1.35, 2.3 / 12 ** 0.5),
                       ("b[2]", 0, second ** 0.5)):
    r = p[name]
    assert abs(r["mean"] - mean) < 4.5 * r["mcse"], (name, r)
    assert abs(r["sd"] / sd - 1) < 0.1, (name, r)
E
status 0 ./sampler check --data all.json
prints '^w +slice .*pass'
status 1 ./sampler geweke
says 'triangle.gbm:8:20: the model cannot be simulated'
status 1 ./sampler simulate --out s.nc
says 'has no clause draw'
absent s.nc
exit 0
