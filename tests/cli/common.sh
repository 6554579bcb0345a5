#!/usr/bin/env bash
# What samplers have in common is compiled once (gbmc --prepare) and linked by
# those that would have compiled the same: draws are the same bits without it.
source "$GBM_ROOT/tests/cli/lib"
mkdir -p built lib/runtime
cp "$GBM_ROOT/$GBM_BUILD"/{gbmc,libgbm.a,link_flags} built
cp -r "$GBM_ROOT/stdlib" lib/stdlib
cp "$GBM_ROOT/runtime/model.h" lib/runtime
export GBM_STDLIB=$scratch/lib/stdlib GBM_CACHE=off

# a joint block of logits, and normals between bounds of several rows
cat >both.bug <<'END'
model {
  for (i in 1:12) {
    y[i] ~ dpois(exp(a + b[i]))
    b[i] ~ dnorm(0, tau)
    z[i] ~ dnorm(a, 1) T(0, 3)
  }
  a ~ dnorm(0, 1)
  tau ~ dgamma(2, 2)
}
END
echo '{"y": [2,0,1,5,3,0,2,2,9,1,0,4]}' >y.json
draws() {
    status 0 ./x --data y.json --quiet --warmup 50 --draws 50 --seed 3 --device cpu --out "$1"
}
status 0 built/gbmc both.bug -o x
draws apart.csv
status 0 built/gbmc --prepare
exists built/common.o
exists built/common.key
status 0 built/gbmc both.bug -o x
draws linked.csv
for file in apart*.csv; do
    same <(grep -v '^#' "$file") <(grep -v '^#' "${file/apart/linked}")
done

# it is taken where it would be compiled the same, and nowhere else
linked() { status 2 built/gbmc "$@" both.bug -o x; }
apart() { status 0 built/gbmc "$@" both.bug -o x; }
echo 'no object' >built/common.o
linked -O 3
apart --cpu=portable
echo '/* more */' >>lib/stdlib/kernels/gamma.h
apart -O 3
