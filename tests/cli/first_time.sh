#!/usr/bin/env bash
# docs/first-time.md: its commands, on its models and data.
source "$GBM_ROOT/tests/cli/lib"
export PATH=$GBM_ROOT/$GBM_BUILD:$PATH GBM_CACHE=$scratch/cache
page=$GBM_ROOT/docs/first-time.md
python3 - "$page" <<'E2' || fail 'the page'
import re, sys
text = open(sys.argv[1]).read()
files = re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```", text, re.M | re.S)
assert [name for name, _ in files] == ["mines.gbm", "mines.json", "one.gbm"]
for name, body in files:
    open(name, "w").write(body)
E2
sed -n 's/^    \(gbm .*\)/\1/p' "$page" >commands
[ "$(wc -l <commands)" = 9 ] || fail 'its commands'
while read -ra words; do
    if [ "${words[1]}" = report ] &&
        ! python3 -c 'import matplotlib, netCDF4' 2>/dev/null; then
        continue
    fi
    status 0 "${words[@]}"
    case ${words[1]} in
    check) prints 'pass$' ;;
    run) prints '^late ' ;;
    explain) prints '^ *[0-9]+ +change' ;;
    batch) prints '^mines-mines +[0-9]+' ;;
    compare)
        first=$(grep -m 1 -oE 'fits/[a-z-]+.nc' .out)
        [ "$first" = fits/mines-mines.nc ] || fail 'one rate predicts better'
        ;;
    report) exists mines.html ;;
    esac
done <commands
