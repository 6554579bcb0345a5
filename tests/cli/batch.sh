#!/usr/bin/env bash
# `gbm batch`: every model with every data set behind it, a row for each; one
# that fails stops no other.
source "$GBM_ROOT/tests/cli/lib"
gbm=$GBM_ROOT/$GBM_BUILD/gbm
export GBM_CACHE=$scratch/cache # b.gbm is a.gbm
mkdir 'a folder'
cat >a.gbm <<'E2'
given N, s
observed y[N]
model {
  for (i in 1:N) { y[i] ~ normal(mu, s) }
  mu ~ normal(0, 1)
}
E2
cp a.gbm 'a folder/b.gbm'
echo '{"N": 3, "y": [1, 2, 4]}' >x.json
echo '{"N": 2, "y": [-1, 0.5]}' >'a folder/x.json'
echo '{"N": 2, "y": [-1]}' >wrong.json
echo 's <- 1' >s.R

status 0 "$gbm" batch -O0 a.gbm 'a folder/b.gbm' x.json 'a folder/x.json' \
    --data s.R --draws 200 --device cpu --out kept --method=tempering
cut -d' ' -f1 .out >runs
same runs <(printf '%s\n' run a-x a-x-2 b-x b-x-2)
prints '^run +min ess  of +max rhat  of +seconds +log evidence$'
says '^\[4/4\] b-x-2$'
python3 - kept <<'E2' || fail 'the table is not what the summaries say'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/table.csv")))
assert [r["data"] for r in rows] == ["x.json", "a folder/x.json"] * 2, rows
assert [r["model"] for r in rows] == ["a.gbm"] * 2 + ["a folder/b.gbm"] * 2
for r in rows:
    s = json.load(open(f"{sys.argv[1]}/{r['run']}.json"))
    open(f"{sys.argv[1]}/{r['run']}.nc").close()
    t = s["timing"]
    wanted = {"ess": s["worst"]["ess"], "rhat": s["worst"]["rhat"],
              "seconds": t["load_s"] + t["jit_s"] + t["warmup_s"] + t["sampling_s"],
              "log_evidence": s["log_evidence"]["value"],
              "log_evidence_se": s["log_evidence"]["se"]}
    for k, v in wanted.items():
        assert abs(float(r[k]) - v) <= 1e-6 * abs(v) + 1e-12, (r, k, v)
    assert r["status"] == "done" and r["ess_of"] == r["rhat_of"] == "mu"
a, b = rows[0], rows[2]  # the same text
assert a["log_evidence"] == b["log_evidence"] != rows[1]["log_evidence"]
E2

# One fails: the others go on, and what was kept before stays.
cp wrong.json 'a folder/x.json'
cp kept/a-x-2.json before.json
status 1 "$gbm" batch -O0 a.gbm x.json 'a folder/x.json' s=s.csv \
    --draws 200 --device cpu --out kept
says 's.csv'
echo 1 >s.csv
status 1 "$gbm" batch -O0 a.gbm 'a folder/x.json' x.json s=s.csv \
    --draws 200 --device cpu --out other --format csv --log-lik
prints '^a-x +failed +-'
prints '^run +min ess  of +max rhat  of +seconds +elpd loo$'
prints '^a-x-2 +[0-9]+ +mu +[0-9.]+ +mu +[0-9.]+ +-[0-9.]+ \([0-9.]+\)$'
python3 - <<'E2' || fail 'elpd_loo is not what the summary says'
import csv, json
row = list(csv.DictReader(open("other/table.csv")))[1]
loo = json.load(open("other/a-x-2.json"))["loo"]
assert abs(float(row["elpd_loo"]) - loo["elpd"]) < 1e-6
assert abs(float(row["elpd_loo_se"]) - loo["se"]) < 1e-6
E2
says 'a-x: failed: gbm run a.gbm a folder/x.json'
grep -qE '^"a-x",.*"failed",,"",,"",,,,,$' other/table.csv || fail 'the kept row'
exists other/a-x-2_1.csv
absent other/a-x_1.csv
same kept/a-x-2.json before.json

# Mistakes are told before anything runs.
status 1 "$gbm" batch
says 'which models'
status 1 "$gbm" batch x.json a.gbm
says 'no model stands before x.json'
status 1 "$gbm" batch a.gbm absent.json
says 'cannot read absent.json'
status 1 "$gbm" batch a.gbm 'a folder'
says 'is a folder'
status 1 "$gbm" batch a.gbm x.json --chain 3
says "unknown option '--chain'.*--chains"
status 1 "$gbm" batch a.gbm x.json --checkpoint c
says 'checkpoint is of one run'
status 1 "$gbm" batch a.gbm x.json --out
says 'needs a folder'
status 2 "$gbm" batch a.gbm x.json --out x.json
says 'cannot make the folder x.json'

# Ctrl-C ends the run that is under way, and the rest does not begin.
"$gbm" batch -O0 a.gbm x.json 'a folder/x.json' --data s.R --device cpu \
    --chains 1 --draws 200000000 --thin 500 --out long --format csv \
    >.out 2>.err </dev/null &
id=$!
until [ -n "$(ls long 2>/dev/null)" ]; do
    kill -0 $id 2>/dev/null || fail 'it ended'
    sleep 0.2
done
kill -INT $id
wait $id
[ $? = 2 ] || fail 'a batch that was ended'
prints '^a-x +stopped'
prints '^a-x-2 +not run'
