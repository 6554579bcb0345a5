#!/usr/bin/env bash
# --progress full: R-hat, effective draws and traces of what mixes worst are those
# of the draws; in a terminal the view is written over.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:20) { y[i] ~ dnorm(mu + e[g[i]], tau) }
  for (j in 1:12) { e[j] ~ dnorm(0, 4) }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 2)
  pair <- e[1] + e[2]
}
samplers { mu : rw; }
E
python3 -c 'print({"y": [i * 7 % 20 for i in range(20)],
                   "g": [i % 12 + 1 for i in range(20)]})' | tr \' \" >data.json
status 0 "$GBMC" -O 0 model.gbm -o model
run=(./model --data data.json --device cpu --seed 2 --warmup 50)

# The last view of a run without a terminal, from the draws and the summary.
export LC_ALL=C
status 0 "${run[@]}" --draws 400 --chains 5 --progress full --out fit.csv \
    --digits 17 --summary fit.json
python3 - <<'E' || fail 'the view'
import json
lines = open(".err").read().split("\n")
head = max(i for i, l in enumerate(lines) if l.startswith("name "))
assert lines[head].split() == "name mean sd ess rhat traces of 4 chains".split()
rows = [l.split() for l in lines[head + 1:head + 11]]
known = json.load(open("fit.json"))["parameters"]
draws = []
for c in range(1, 6):
    text = [l.strip().split(",") for l in open(f"fit_{c}.csv") if l[0] != "#"]
    draws.append({n.replace(".", "[", 1) + ("]" if "." in n else ""):
                  [float(r[k]) for r in text[1:]]
                  for k, n in enumerate(text[0])})
ess = lambda r: min(r["ess_bulk"], r["ess_tail"])
worst = sorted(known, key=lambda n: -known[n]["rhat"])[:10]
assert [r[0] for r in rows] == worst, (rows, worst)
for name, mean, sd, least, rhat, *traces in rows:
    k = known[name]
    assert abs(float(mean) - k["mean"]) <= 6e-4 * abs(k["mean"]), name
    assert abs(float(sd) - k["sd"]) <= 6e-3 * k["sd"], name
    assert abs(float(least) - ess(k)) <= 0.51 and len(traces) == 4, name
    assert abs(float(rhat) - k["rhat"]) <= 5.1e-4, name
    means = [[sum(c[name][b * 50:b * 50 + 50]) / 50 for b in range(8)]
             for c in draws[:4]]
    low, high = min(map(min, means)), max(map(max, means))
    for trace, of in zip(traces, means):
        assert len(trace) == 8, name
        for mark, x in zip(trace, of):
            at = (x - low) / (high - low) * 8
            assert int(mark) - 1 in {min(7, int(at - 1e-6)),
                                     min(7, int(at + 1e-6))}, (name, trace, of)
    assert {"1", "8"} <= set("".join(traces)), name
last = lines[head + 11]
assert last.startswith(f"400 draws a chain; of all {len(known)} quantities "
                       f"smallest ESS {min(map(ess, known.values())):.0f}, "), last
E
status 0 "${run[@]}" --draws 40 --progress full --show e,tau --chains 1
grep -qE '^(mu|pair) ' .err && fail '--show'
says '^e\[1\] .* [1-8]{8}$'
says 'trace of 1 chain$'
for kind in lines none; do
    status 0 "${run[@]}" --draws 40 --progress $kind
    grep -q 'traces' .err && fail "--progress $kind"
done
status 1 "${run[@]}" --progress fully
says 'bar, lines, full or none'

# In a terminal: what is on the screen at the end has one view, and no remains.
cat >screen.py <<'E'
import os, pty, re, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ["LC_ALL"] = "C.UTF-8"
    os.execv(sys.argv[1], sys.argv[1:])
got = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    got += piece
assert os.waitpid(pid, 0)[1] == 0, got.decode()
screen, row, at, ups = [[]], 0, 0, 0
for part in re.findall("\x1b\\[\\d*[A-Z]|.", got.decode(), re.S):
    if part == "\n":
        row += 1
        screen += [[]] if row == len(screen) else []
    elif part == "\r":
        at = 0
    elif part == "\x1b[K":
        del screen[row][at:]
    elif part[0] == "\x1b":
        assert part[-1] == "A", part
        row -= int(part[2:-1])
        ups += 1
        assert row >= 0
    else:
        screen[row][at:at + 1] = [part]
        at += 1
screen = ["".join(line) for line in screen]
count = lambda words: sum(bool(re.search(words, line)) for line in screen)
assert ups >= 1, "never written over"
assert count("traces of") == count("draws a chain; of all") == 1, screen
assert count("^sampling 100000 sweeps in") == 1, screen
assert count("a second, .* left") == 0, screen
assert count("█") and count("▁"), screen
E
status 0 python3 screen.py "${run[@]}" --draws 100000 --monitor mu,tau \
    --progress full
