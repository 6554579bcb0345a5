#!/usr/bin/env bash
# Files of draws that are damaged: `summary` says so, whatever is in them.
source "$GBM_ROOT/tests/cli/lib"
sampler pump
status 0 ./pump --data "$examples/pump/data.json" --device cpu --chains 2 \
    --quiet --warmup 10 --draws 100 --out fit.nc
exists fit.nc

# lengths in its heaps beyond its end: the netCDF library crashes
python3 - <<'PY' || fail "no heap"
import struct
b = bytearray(open("fit.nc", "rb").read())
at, heaps = 0, 0
while (at := b.find(b"GCOL", at)) >= 0:
    b[at + 28:at + 32] = struct.pack("<I", 0xffffffff)
    at, heaps = at + 4, heaps + 1
assert heaps
open("bad.nc", "wb").write(b)
PY
status 1 ./pump summary bad.nc
says 'bad.nc: it is damaged'

# bytes changed anywhere, the file cut anywhere
python3 - <<'PY' || fail "ended in another way"
import random, subprocess
whole = open("fit.nc", "rb").read()
random.seed(5)
refused = 0
for k in range(40):
    b = bytearray(whole)
    if k % 3 == 0:
        b = b[:random.randrange(len(b))]
    for _ in range(random.choice([0, 3, 30, 300]) if k % 3 == 0 else 30):
        b[random.randrange(len(b))] = random.randrange(256)
    open("bad.nc", "wb").write(b)
    run = subprocess.run(["./pump", "summary", "bad.nc"], timeout=60,
                         capture_output=True, text=True)
    assert run.returncode in (0, 1), (k, run.returncode, run.stderr)
    assert run.returncode == 0 or "bad.nc: " in run.stderr, (k, run.stderr)
    refused += run.returncode
assert refused > 10, refused
PY
exit 0
