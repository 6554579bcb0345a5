#!/usr/bin/env bash
# Children of a ragged plate: an element that has none there has no ends to
# loop between either, so nothing is read beyond the array of ends.
source "$GBM_ROOT/tests/cli/lib"
cat >m.gbm <<'X'
model {
  for (l in 1:4) {
    for (r in off[l]:(off[l + 1] - 1)) { y[r] ~ dnorm(total[l], 1) }
  }
  for (t in 1:8) { total[t] ~ dbern(0.4) }
}
X
echo '{"off": [1, 3, 3, 6, 8], "y": [0.1, 1.2, 0.4, 0.9, -0.3, 1, 0.2]}' >d.json
status 0 "$GBMC" --emit=c m.gbm
mv .out m.c
build=$(cd "$GBM_ROOT" && cd "$GBM_BUILD" && pwd)
mapfile -t libraries < <(tr -s " \n" "\n" <"$build/link_flags")
status 0 "${CC:-cc}" -O1 -fopenmp -fsanitize=address -I "$GBM_ROOT/runtime" \
    -I "$GBM_ROOT/stdlib/kernels" m.c "$build/libgbm.a" \
    "${libraries[@]}" -o m
status 0 env ASAN_OPTIONS=detect_leaks=0 ./m --data d.json --device cpu \
    --warmup 20 --draws 20 --quiet
status 0 env ASAN_OPTIONS=detect_leaks=0 ./m check --data d.json
