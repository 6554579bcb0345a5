#!/usr/bin/env bash
# Latent normals do not move by one number with nodes of which some are data,
# elements of the model or not; nor where samplers { } asks for a node's draw.
source "$GBM_ROOT/tests/cli/lib"

cat >held.gbm <<'E2'
model {
  for (i in 1:8) {
    z[i] ~ dnorm(b[k[i]] * x[i], 1)
    y[i] ~ dinterval(z[i], 0)
  }
  for (j in 1:3) { b[row[j]] ~ dnorm(0, 1) }
}
E2
python3 - <<'P'
import json
data = {"k": [1, 2, 3, 4, 1, 2, 3, 4], "x": [1, -1, 2, 0.5, 2, 1, -2, 1],
        "y": [1, 0, 1, 1, 0, 0, 0, 1], "row": [1, 2, 4]}
def write(name, **more):
    json.dump({**data, **more}, open(name + ".json", "w"))
write("beside", b=[None, None, 0.8, None])
write("coefficient", b=[0.4, None, 0.8, None])
write("latent", b=[None, None, 0.8, None], z=[0.5] + 7 * [None])
P
sed 's/row\[j\]/j/' held.gbm >moves.gbm
status 0 "$GBMC" -O0 held.gbm -o held
status 0 "$GBMC" -O0 moves.gbm -o moves
for data in beside coefficient latent; do
    status 0 ./held check --data $data.json
    grep -q 'common scale .*it never moved' .out || fail "$data: moves"
    status 0 ./held --data $data.json --draws 20 --quiet
done
python3 - <<'P'
import json
d = json.load(open("beside.json"))
d.update(k=[1, 2, 3, 3, 1, 2, 3, 3])
del d["b"], d["row"]
json.dump(d, open("all.json", "w"))
d["y"] = 8 * [None] # nor where nothing is known
json.dump(d, open("none.json", "w"))
P
for data in all none; do
    status 0 ./moves check --data $data.json
    grep -q 'common scale .*pass' .out || fail "$data: does not move"
done
{
    cat moves.gbm
    echo 'samplers { b : gibbs; }'
} >asked.gbm
status 0 "$GBMC" --explain asked.gbm
! grep -q 'common scale' .out || fail 'b is drawn as asked'
