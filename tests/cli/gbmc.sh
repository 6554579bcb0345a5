#!/usr/bin/env bash
# gbmc's command line: help, wrong options, files that are not there.
source "$GBM_ROOT/tests/cli/lib"
pump=$examples/pump/pump.gbm

status 0 "$GBMC" --help
prints '--explain'
status 0 "$GBMC" --version
prints '[0-9]'
status 0 "$GBMC" --list
prints 'dgamma'
prints 'half_cauchy'

status 1 "$GBMC"
status 1 "$GBMC" --no-such-option "$pump"
says 'no-such-option'
status 1 "$GBMC" --emit=nonsense "$pump"
says 'nonsense'
status 1 "$GBMC" missing.gbm -o x
says 'missing\.gbm'
absent x
status 1 "$GBMC" "$scratch" -o x # a folder
absent x
status 1 "$GBMC" --cpu=fast "$pump" -o x
says 'native or portable, not .fast'
absent x
for words in '--sequence i' '--temper x' '--with=gradients --sequence i'; do
    # shellcheck disable=SC2086 # words
    status 1 "$GBMC" $words "$pump" -o x
    says 'is of powers: it goes with --with=powers'
    absent x
done
status 1 "$GBMC" "$pump" -o no/such/folder/x
says 'cannot write .*no/such/folder/x: No such'
status '1|2' env CC=/no/such/compiler "$GBMC" "$pump" -o x
says 'compiler'
absent x
# what the compilers of the parts say is told once
printf '#!/bin/sh\necho "not in this room" >&2\nexit 1\n' >complains
chmod +x complains
status 2 env CC="$scratch/complains" GBM_CACHE=off "$GBMC" "$pump" -o x
says 'C compiler failed'
[ "$(grep -c 'not in this room' .err)" = 1 ] || fail "not told once"
absent x
status 0 "$GBMC" "$pump" -o x
exists x
# a folder is told of at once; a device or a pipe is written to, not replaced
status 1 env CC=/no/such/compiler "$GBMC" "$pump" -o .
says 'cannot write \.: Is a directory'
mkfifo pipe
cat pipe >got &
status 0 "$GBMC" "$pump" -o pipe
[ -p pipe ] || fail "a pipe was replaced"
wait $!
chmod +x got
status 0 ./got --version # it is whole
rm pipe got
# the text is one program, too, that one command compiles, and it draws the same
# to the bit: nothing on which draws depend is compiled with other options
near=$GBM_ROOT/tests/models/near_exact_line
built=$GBM_ROOT/$GBM_BUILD
"$GBMC" --emit=c "$near"/*.bug >whole.c
# shellcheck disable=SC2046,SC2086 # words
status 0 ${CC:-cc} -std=gnu11 -w -O3 -march=native -fno-math-errno \
    -fno-trapping-math -fopenmp -I "$GBM_ROOT/runtime" \
    -I "$GBM_ROOT/stdlib/kernels" whole.c "$built/libgbm.a" \
    $(cat "$built/link_flags") -o whole
status 0 "$GBMC" "$near"/*.bug -o parts
for sampler in whole parts; do
    status 0 ./$sampler --data "$near/data.json" --quiet --warmup 100 \
        --draws 400 --chains 1 --seed 7 --device cpu --out $sampler.csv
done
for file in whole parts; do
    grep -v '^#' "$(ls $file*.csv | head -1)" >$file.numbers
done
same whole.numbers parts.numbers
rm -f whole* parts*

: >empty.gbm
status 1 "$GBMC" empty.gbm -o y
absent y
head -c 100 /dev/urandom >noise.gbm
status 1 "$GBMC" noise.gbm -o y
printf 'model {\n  x ~ dnrom(0, 1)\n  y ~ dnorm(0)\n}\n' >two.gbm
status 1 "$GBMC" two.gbm -o y
says 'two\.gbm:2:.*dnrom'
says 'did you mean .*dnorm'
says 'two\.gbm:3:' # both errors in one run
absent y

# names of the model that read as the program's own for another
cat >names.bug <<'END'
model {
  a[1] ~ dnorm(0, 1)
  for (i in 2:3) { a[i] ~ dnorm(a[i-1], 1) }
  a.1 ~ dnorm(0, 1)
  r ~ dgamma(1, 1)
  y.n1 ~ dgamma(1, 1)
  y.stride ~ dnorm(0, y.n1)
  constant[1] <- log(3)
  constant[2] <- log(4)
  for (i in 1:3) {
    a_2[i] ~ dgamma(1, 1)
    start.r[i] ~ dnorm(a.1, r)
    start.r_[i] ~ dnorm(0, 1)
    real_log[i] <- log(a_2[i]) + constant[1]
    y[i] ~ dnorm(a[i] + y.stride + sum(log(x[])), constant[2] * a_2[i])
    y.seen[i] ~ dnorm(real_log[i] + update_y[i], 1)
  }
}
END
status 0 "$GBMC" names.bug -o names
exists names
