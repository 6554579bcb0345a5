#!/usr/bin/env bash
# Data that need more digits than single precision has are refused there, and
# what is said names precision and not a fault; in double precision all is well.
source "$GBM_ROOT/tests/cli/lib"
fake_device
model=$GBM_ROOT/tests/models/near_exact_line
status 0 "$GBMC" -O 1 "$model/model.bug" -o line
run() {
    status "$1" ./line --data "$model/data.json" --device cuda --quiet \
        --chains 2 --warmup 20 --draws 20 --precision "$2"
}
run 0 double
run 2 single
says 'single precision has too few digits here: no draws were made'
says 'y\[i\] ~ dnorm.*'
says 'seven digits.*run with --precision double'
! grep -q 'this sampler is wrong' .err || fail 'it is called a wrong sampler'
