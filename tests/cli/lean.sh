#!/usr/bin/env bash
# A program has nothing that is not for it: no function that nothing calls, and
# no name that is silenced by (void).
source "$GBM_ROOT/tests/cli/lib"

cat >path.gbm <<'M'
model {
  x[1] ~ dnorm(0, 1)
  for (t in 2:T) { x[t] ~ dnorm(a * x[t-1], 1) }
  for (t in 1:T) { y[t] ~ dpois(exp(x[t])) }
  a ~ dunif(0, 1)
}
samplers { x : pgas(particles = 4); }
M
cat >lean.py <<'PY'
"""lean.py FILE: what a program has in vain, a line each."""
import collections, re, sys
text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
for line in re.findall(r"^\s*\(void\)\w+;", text, re.M):
    print(line.strip())
heads = re.findall(r"^(?:GBM_FN\w*|GBM_INLINE|static)\b[^;{}=#]*?\b(\w+)\(",
                   text, re.M)
assert len(set(heads)) > 20, "few functions are seen"
words = collections.Counter(re.findall(r"\w+", text))
for name, n in collections.Counter(heads).items():
    if words[name] <= n:
        print(name)
PY
lean() { # OPTION... MODEL
    "$GBMC" --emit=c "$@" >program.c || fail "gbmc $*"
    status 0 python3 lean.py program.c
    [ ! -s .out ] || fail "gbmc $*: $(cat .out)"
}
lean "$examples/pump/pump.gbm"
lean "$examples/tdp_mixture/tdp_mixture.gbm"
lean "$examples/lee_mixture/lee_mixture.gbm"
lean --with=powers "$examples/seeds/seeds.gbm"
lean path.gbm

# what is in vain is seen
{
    printf 'GBM_FN int in_vain(int n)\n{\n    (void)n;\n    return 0;\n}\n'
    cat program.c
} >more.c
status 0 python3 lean.py more.c
prints '^in_vain$'
prints '^\(void\)n;$'
