#!/usr/bin/env bash
# Effects around a long sum, or that stand beside one, move with the precision of
# their group (sampler/carried.c): the posterior of counts in two groups by
# quadrature, in both spellings; and precisions of which the counts say little mix.
source "$GBM_ROOT/tests/cli/lib"

cat >centred.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) {
      y[g,n] ~ dpois(exp(eta[g,n]))
      eta[g,n] ~ dnorm(inprod(X[n,], b[]), prec[g])
    }
    prec[g] ~ dgamma(2, 1)
    a[g] <- log(prec[g])
  }
  for (l in 1:L) { b[l] ~ dnorm(0, 1) }
}
E
sed -e 's/exp(eta\[g,n\])/exp(eta[g,n] + inprod(X[n,], b[]))/' \
    -e 's/eta\[g,n\] ~ dnorm(inprod(X\[n,\], b\[\])/eta[g,n] ~ dnorm(0/' \
    centred.gbm >beside.gbm
sed -e 's/inprod(X\[n,\], b\[\])/b[g]/; s/l in 1:L/g in 1:G/; s/b\[l\]/b[g]/' \
    beside.gbm >groups.gbm
echo '{"G": 2, "N": 3, "L": 1, "X": [[1], [0.5], [-1]],
       "y": [[3, 0, 1], [0, 9, 2]]}' >data.json

cat >exact.py <<'E'
import math
import sys
import numpy as np
x, y = np.array([1, 0.5, -1]), np.array([[3, 0, 1], [0, 9, 2]])
b = np.linspace(-4.5, 4.5, 61)[:, None]
a = np.linspace(-7, 4, 111)[None, :]
z = np.linspace(-6, 6, 241)
weight = np.exp(-z ** 2 / 2) / np.exp(-z ** 2 / 2).sum()
given = []  # the density of b and a[g], but for b's prior
for counts in y:
    logp = 2 * a - np.exp(a) + 0 * b
    for n in range(3):
        eta = (b * x[n])[:, :, None] + np.exp(-a / 2)[:, :, None] * z
        like = np.exp(counts[n] * np.minimum(eta, 30)
                      - np.exp(np.minimum(eta, 30))
                      - math.lgamma(counts[n] + 1))
        logp += np.log(like @ weight)
    given.append(np.exp(logp))
of_b = np.exp(-b[:, 0] ** 2 / 2) * given[0].sum(1) * given[1].sum(1)
of_b /= of_b.sum()
draws = []
for c in range(1, 5):
    rows = [r for r in open(f"draws_{c}.csv") if r[0] != "#"]
    names = rows[0].strip().split(",")
    table = np.loadtxt(rows[1:], delimiter=",")
    draws.append([table[:, names.index(k)] for k in ("a.1", "a.2", "b.1")])
draws = np.array(draws)
for g in range(3):
    for name, f in ("mean", lambda u: u), ("square", lambda u: u * u):
        if g < 2:
            law = of_b @ (given[g] / given[g].sum(1, keepdims=True))
            exact = (law * f(a[0])).sum()
        else:
            exact = (of_b * f(b[:, 0])).sum()
        parts = f(draws[:, g]).reshape(80, -1).mean(axis=1)
        error = parts.std(ddof=1) / 80 ** 0.5
        score = (parts.mean() - exact) / error
        print(sys.argv[1], g, name, exact, parts.mean(), error, score)
        assert abs(score) < 4 and error < 0.02 * (1 + abs(exact))
E
for m in centred beside; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints 'prec, eta .* scale with its plate, slice'
    status 0 ./$m check --data data.json --quiet
    status 0 ./$m --data data.json --monitor a,b --quiet --device cpu \
        --draws 20000 --seed 1 --out draws.csv
    status 0 python3 exact.py $m
done

# counts of 0 and 1, which say little of twenty effects' precision; also where the
# sum of an effect and its group's is held when the group's is drawn
python3 - <<'E'
import json, random
random.seed(2)
x = [[1, (-1) ** n] for n in range(20)]
y = [[int(random.random() < 0.3) for _ in x] for _ in range(6)]
json.dump({"G": 6, "N": 20, "L": 2, "X": x, "y": y}, open("few.json", "w"))
E
status 0 "$GBMC" -O 1 groups.gbm -o groups
for m in centred beside groups; do
    status 0 ./$m --data few.json --monitor a --quiet --device cpu --chains 4 \
        --warmup 1000 --draws 4000 --seed 1 --summary $m.json --out $m.csv
    status 0 python3 -c "
import json
ess = [v['ess_bulk'] for v in json.load(open('$m.json'))['parameters'].values()]
print('$m', ess)
assert len(ess) == 6 and min(ess) > 2000"
done
