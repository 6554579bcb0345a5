#!/usr/bin/env bash
# Small models that once went wrong, in ../shared/cases, where that folder is
# there: what must be refused is, by a message that says what is wrong; long
# models compile in little memory; the rest draws, and passes the check. The
# posteriors of those that JAGS draws well are in tests/reference/case_*.json.
source "$GBM_ROOT/tests/cli/lib"
cases=$GBM_ROOT/../shared/cases
if [ ! -d "$cases" ]; then
    echo "skipped: no ../shared/cases"
    exit 77
fi

# compile CASE [FILE]: the case's model into ./CASE
compile() {
    status 0 "$GBMC" -O 0 "$cases/$1/${2-model.bug}" -o "$1"
}
# draws CASE DATA: some draws, all of them numbers; the conditionals are right
draws() {
    status 0 "./$1" --data "$cases/$1/$2" --device cpu --quiet --warmup 50 \
        --draws 50 --seed 2 --out "$1.csv"
    ! grep -v '^#' "$1"_?.csv | grep -qiE '(^|,)-?(nan|inf)' || fail "$1: NaN"
    status 0 "./$1" check --data "$cases/$1/$2"
}

# a line that is no number is no header
compile csv_header csvm.bug
status 1 ./csv_header --data "$cases/csv_header/bad1.csv" --device cpu
says "bad1.csv:1:1: '1e3x' in column 1 is neither a number nor a name"

# draws that are no numbers are told
compile forward_nan fw.bug
status 2 ./forward_nan simulate --data "$cases/forward_nan/fw.json"
status 2 ./forward_nan --data "$cases/forward_nan/fw.json" --device cpu \
    --draws 50 --warmup 50 --out fw.csv
says '^failed: [0-9]+ draws are not a number, the first [zw], draw'
exists fw_1.csv

# a subscript outside its array has density 0
compile index_out_of_range idx2.bug
status 0 ./index_out_of_range --data "$cases/index_out_of_range/fw.json" \
    --device cpu --quiet --out idx.csv
awk -F, '/^#/ { next }
    !at { for (i = 1; i <= NF; i++) if ($i == "k") at = i; next }
    $at < 0 || $at > 2 { print "k is " $at; exit 1 }' idx_1.csv || fail "k"

# sums of hundreds of terms and hundreds of statements
for model in long_sum_oom/su190 long_sum_oom/su300 unrolled_slow/st1000; do
    (
        ulimit -v 300000
        "$GBMC" --emit=c "$cases/$model.bug" >long.c 2>.err
    ) || fail "$model: $(cat .err)"
done

# files that are damaged are refused
"$GBM_ROOT/$GBM_BUILD/gbmc" -O 0 "$GBM_ROOT/examples/line/line.gbm" -o line
./line summary "$cases/segv_summary.nc" >.out 2>.err
[ $? -lt 100 ] || fail "summary of a damaged file crashes"

# a bound around a link hides nothing, and data known later are asked for
compile arm_election88
"$GBMC" --explain "$cases/arm_election88/model.bug" >with
"$GBMC" --explain "$cases/arm_election88/without_bound.bug" >without
cmp <(grep -E '^[0-9]' with) <(grep -E '^[0-9]' without) || fail "election88"
status 0 "$GBMC" -O 0 "$cases/econ_probit_panel/model.bug" -o econ_probit_panel
says 'gbmc .*model.bug DATA compiles for them|may be data or a prediction'

for name in ml_lda sr_bangladesh_lkj arm_storable econ_probit_panel ts_tvp_var; do
    [ -e "$name" ] || compile "$name"
    draws "$name" data.R
done
compile sorted_criteria_per_cell
draws sorted_criteria_per_cell data.json
