#!/usr/bin/env bash
# `gbm`: the commands for people go on as gbmc and as the sampler: their output,
# their exit status, nothing left behind; paths have blanks.
source "$GBM_ROOT/tests/cli/lib"
gbm=$GBM_ROOT/$GBM_BUILD/gbm
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR" 'a folder'
cd 'a folder' || exit 1
says() { grep -qiE -- "$1" .err || { cat .err; fail "no message like: $1"; }; }

status 0 "$gbm" --version
same <(sed 's/^gbm /gbmc /' .out) <("$GBMC" --version)
status 0 "$gbm" help
prints '^  run '
status 0 "$gbm" help run
prints '^  --chains N'
status 0 "$gbm" run --help
prints '^usage: gbm run MODEL'
status 1 "$gbm"
status 1 "$gbm" smmary fit.nc
says "unknown command 'smmary': did you mean gbm summary"
status 1 "$gbm" predict fit.nc
says 'did you mean gbm simulate MODEL NEW --from FIT.nc\?'
status 1 "$gbm" help rnu
says 'did you mean gbm run'
status 0 "$gbm" library dgamma
prints '^distribution dgamma'
status 1 "$gbm" library dgama
says "did you mean 'dgamma'"

# new: whole or not at all, and what it makes runs as it says
status 0 "$gbm" new 'my first/'
exists 'my first/README.md'
status 1 "$gbm" new 'my first'
says 'is there already'
status 1 "$gbm" new nowhere/model
absent nowhere
model='my first/model.gbm' data='my first/data.json'
status 1 "$gbm" model.gbm
status 1 "$gbm" "$model"
says 'did you mean gbm run'
status 0 "$gbm" info "$model"
prints '^  sigma +random'
grep -q 'constant\.' .out && fail 'info names what no model has'
status 0 "$gbm" explain "$model"
prints 'Gaussian block'

# run: options of both programs, in any place; the draws are the sampler's
status 0 "$gbm" run -O 1 "$model" --draws 200 --device cpu "$data" --log-lik \
    --out 'f i.nc' --no-cache --format csv
prints '^sigma'
status 0 "$GBMC" -O 1 "$model" "$data" -o sampler
status 0 ./sampler --data "$data" --draws 200 --device cpu --log-lik \
    --out other.csv
same <(grep -v '^#' 'f i.nc_1.csv') <(grep -v '^#' other_1.csv)
status 0 ./sampler --data "$data" --draws 200 --device cpu --log-lik \
    --out one.nc --quiet
status 0 "$gbm" run -O1 "$model" --data="$data" --draws 200 --device cpu \
    --seed 2 --log-lik --out two.nc --quiet
status 0 "$gbm" summary one.nc --quantiles 10,90
prints '^name.* 10% '
status 0 "$gbm" compare one.nc two.nc
prints '^one.nc +'
status 1 "$gbm" compare one.nc
status 1 "$gbm" summary absent.nc
status 0 "$gbm" check -O1 "$model" "$data"
prints '^sigma .* pass$'
status 0 "$gbm" help sbc
status 0 "$gbm" run -O1 "$model" "$data" --method optimize # compiles again
prints '^sigma'
status 0 "$gbm" dag "$model" -o graph.dot
exists graph.dot
if command -v dot >/dev/null; then
    status 0 "$gbm" dag "$model"
    exists model.svg
fi

# statuses of both programs
status 1 "$gbm" run
says 'which model'
status 1 "$gbm" run absent.gbm
printf 'model { x ~ dnrom(0, 1) }\n' >wrong.gbm
status 1 "$gbm" run wrong.gbm
says 'wrong.gbm:1:13: error: .*'
status 1 "$gbm" run -O0 "$model" "$data" --chain 2
says 'unknown option .--chain.*--chains'
CC=absent-cc status 2 "$gbm" run "$model" "$data"
says 'no C compiler'
[ -z "$(ls -A "$TMPDIR")" ] || fail "left in TMPDIR: $(ls "$TMPDIR")"

# Ctrl-C: the sampler's own end
"$gbm" run -O0 "$model" "$data" --device cpu --quiet --chains 1 \
    --draws 200000000 --thin 500 --monitor beta --out long.csv \
    >.out 2>.err </dev/null &
id=$!
until [ -s long.csv.part ]; do
    kill -0 $id 2>/dev/null || fail "it ended"
    sleep 0.2
done
kill -INT $id
wait $id
[ $? = 2 ] || fail "a run that was ended"
says 'incomplete'
exists long_1.csv
