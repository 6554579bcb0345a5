#!/usr/bin/env bash
# A sampler's command line: help, wrong options, wrong data files.
source "$GBM_ROOT/tests/cli/lib"
sampler pump
data=$examples/pump/data.json

status 0 ./pump --help
prints '--chains'
status 0 ./pump info
prints 'theta'
status 1 ./pump
says 'data|supplied|given'
status 1 ./pump --no-such-option --data "$data"
says 'no-such-option'
status 1 ./pump --foo --data "$data"
says "unknown option '--foo'; see --help"
# What JAGS's, NIMBLE's and Stan's interfaces call it.
for word in --n.iter=draws --num_samples=draws --burnin=warmup \
    --n.chains=chains; do
    status 1 ./pump "${word%=*}" 10 --data "$data"
    says "unknown option '${word%=*}': did you mean --${word#*=}\?"
done
status 1 ./pump sample num_samples=10
says "unknown command 'sample': did you mean run\?"
status 1 ./pump "$data"
says "data.json' is a file, not a command: did you mean --data .*data.json\?$"
status 1 ./pump --data
status 1 ./pump --data "$data" --chains none
says 'none'
status 1 ./pump --data "$data" --chains -1
status 1 ./pump --data "$data" --draws 1e99
status 1 ./pump --data "$data" --monitor nobody
says 'nobody'
status 1 ./pump --data "$data" --device toaster
says 'toaster'
status 1 ./pump --data missing.json
says 'missing\.json'
head -c 60 "$data" >cut.json
status 1 ./pump --data cut.json
says 'cut\.json'
: >empty.json
status 1 ./pump --data empty.json
says 'empty\.json'

status '1|2' ./pump --data "$data" --quiet --out no/such/folder/fit.nc
says 'no/such/folder'
status '1|2' ./pump --data "$data" --quiet --summary no/such/folder/s.json
says 'no/such/folder'
status 0 ./pump check --data "$data"
status 0 ./pump --data "$data" --quiet --draws 100 --warmup 100
