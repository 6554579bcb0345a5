#!/usr/bin/env bash
# GBM_HELD: what a sampler holds is looked at behind each step, not only behind
# a sweep of the self-check. Draws are what they are without; rows that are left
# behind, and a table, are seen behind the step that does so.
source "$GBM_ROOT/tests/cli/lib"

ranks_model
options=(--data ranks.json --device cpu --seed 1 --chains 2 --warmup 30
    --draws 20 --quiet)
status 0 "$GBMC" -O 0 ranks.gbm -o ranks
status 0 ./ranks "${options[@]}" --out as_ever.csv
GBM_HELD=1 status 0 ./ranks "${options[@]}" --out watched.csv
for chain in 1 2; do
    cmp <(grep -v '^#' as_ever_$chain.csv) <(grep -v '^#' watched_$chain.csv) ||
        fail "draws of chain $chain are not what they are without"
done

# behind FROM TO WHAT: the program with one text for another
status 0 "$GBMC" --emit=c ranks.gbm
cp .out ranks.c
behind() {
    sed "$1" ranks.c >behind.c
    cmp -s ranks.c behind.c && fail "nothing was broken"
    status 0 cc -std=c11 -O0 -w -fopenmp -D_GNU_SOURCE -I"$GBM_ROOT/runtime" \
        -I"$GBM_ROOT/stdlib/kernels" behind.c -o behind \
        "$GBM_ROOT/$GBM_BUILD/libgbm.a" $(cat "$GBM_ROOT/$GBM_BUILD/link_flags")
    status 0 ./behind "${options[@]}" --no-check --out unseen.csv
    GBM_HELD=1 status 2 ./behind "${options[@]}" --no-check --out seen.csv
    says "$2"
}
levels=$(sed -n '/where m\[.*hits/s/.*\*index\([0-9]*\)_start;.*/\1/p' ranks.c |
    head -1)
others=$(sed -n '/where n\[.*hits/s/.*\*index\([0-9]*\)_start;.*/\1/p' ranks.c |
    head -1)
behind "/GBM_STEP_INDEX, .name = \"index$levels\"/,/inverse/s/inverse = $levels/inverse = $others/" \
    '^Step 0, update_u_v \(u\), leaves behind which elements'
number=$(sed -n '/GBM_STEP_DERIVE/,/family/s/.*\.family = \([0-9]*\),.*/\1/p' \
    ranks.c | head -1)
table=$(sed -n '/GBM_STEP_DERIVE/,/sampler/s/.*variable = "\([^"]*\)".*/\1/p' \
    ranks.c)
behind "/GBM_STEP_DERIVE/,/family/s/family = $number/family = 0/" \
    "leaves ${table//./\\.} behind: it holds"

# What is computed of draws which nothing else reads, a chain or an element beside
# them, is made with them where they are kept, which the joint distribution test
# has no need of.
cat >late.gbm <<'EOF'
model {
  for (c in 2:10) { x[c] <- b + w * (x[c - 1] - b) + eps[c] }
  x[1] <- -0.44
  for (j in 1:10) { eps[j] ~ dnorm(0, 1) }
  for (k in 1:3) { z[k] ~ dnorm(w, 1) }
  z[4] <- -sum(z[1:3])
  w ~ dbeta(2, 2)
  b ~ dnorm(0, 1)
  y ~ dnorm(b, 1)
}
EOF
echo '{"y": 0.3}' >late.json
status 0 "$GBMC" -O 0 late.gbm -o late
GBM_HELD=1 status 0 ./late geweke --data late.json --device cpu --draws 20
GBM_HELD=1 status 0 ./late --data late.json --device cpu --quiet --draws 20 \
    --warmup 20

# Labels that nothing observed reads are drawn behind a sweep, where rows by what
# they choose need not follow.
cat >chosen.gbm <<'EOF'
model {
  for (t in 1:4) { s[t] ~ dexp(1) }
  for (r in 1:4) { w[r] <- s[r] / sum(s[1:4]) }
  for (j in 1:9) { z[j] ~ dcat(w[]) }
}
EOF
echo '{"s": [0.9, 1.1, 0.7, null]}' >chosen.json
status 0 "$GBMC" -O 0 chosen.gbm -o chosen
GBM_HELD=1 status 0 ./chosen --data chosen.json --device cpu --seed 1 --chains 2 \
    --warmup 12 --draws 12 --quiet --out chosen.csv
