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
status '1|2' "$GBMC" "$pump" -o no/such/folder/x
says 'no/such/folder'
status '1|2' env CC=/no/such/compiler "$GBMC" "$pump" -o x
says 'compiler'
absent x
status 0 "$GBMC" "$pump" -o x
exists x

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
