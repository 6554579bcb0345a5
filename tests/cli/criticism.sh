#!/usr/bin/env bash
# The commands of docs/criticism.md, in their order: each ends well, and says
# what the page says it does.
source "$GBM_ROOT/tests/cli/lib"
export GBM_CACHE=$scratch/cache PATH=$GBM_ROOT/$GBM_BUILD:$PATH
python3 -c 'import matplotlib, netCDF4' 2>/dev/null && page=yes || page=no

grep '^    ' "$GBM_ROOT/docs/criticism.md" >commands
[ "$(grep -c '^    gbm' commands)" = 8 ] || fail "the page has other commands"
while read -r line; do
    [[ $page = no && $line = "gbm report"* ]] && continue
    status 0 bash -c "$line"
    case $line in
    "gbm sbc"*) prints '^sbc: 200 replicates, ranks among 99 .*: calibrated;' ;;
    "gbm compare"*) prints '^fit.nc +0' && prints '^level.nc +-' ;;
    esac
done <commands
for file in sbc.json prior.nc fit.nc new.nc; do exists $file; done
[ $page = no ] || exists fit.html
exit 0
