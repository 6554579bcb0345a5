#!/usr/bin/env bash
# Draws outlive the run: killed, or with no room for them, it leaves what it had
# drawn a second before, and `summary` reads that and writes it as any format.
source "$GBM_ROOT/tests/cli/lib"
sampler pump
run=(./pump --data "$examples/pump/data.json" --device cpu --chains 2
    --warmup 10 --thin 20 --monitor alpha,theta --seed 3)

for form in fit.nc fit.csv fit; do
    "${run[@]}" --draws 20000000 --format "$(case $form in *.nc) echo netcdf ;;
        *.csv) echo csv ;; *) echo coda ;; esac)" --out $form 2>notes &
    id=$!
    sleep 4
    kill -KILL $id
    wait $id 2>/dev/null
    ls fit.nc fit_* fitindex.txt 2>/dev/null && fail "$form: a final file"
    exists $form.part
    grep -q "$form.part until the run ends" notes || fail "$form: no word of it"
    status 0 ./pump summary $form.part --summary left.json --out left.csv
    prints 'Warning: the run was stopped early'
    status 0 ./pump summary $form.part --out left.nc
    status 0 ./pump summary left.nc
    prints 'Warning: the run was stopped early'
    grep -q '"complete": false' left.json || fail "$form: not marked"
    rows=$(grep -cv '^#' left_2.csv)
    [ "$rows" -gt 100 ] || fail "$form: $rows rows"
    # the same draws as those of a run that was not killed
    "${run[@]}" --quiet --draws $((20 * (rows - 1))) --out whole.csv
    cmp <(grep -v '^#' left_2.csv) <(grep -v '^#' whole_2.csv) ||
        fail "$form: other draws"
    absent whole.csv.part
    # all but the last second: the run was drawing for some three
    rm -f fit* left*
done

# a clean stop leaves the final file alone
"${run[@]}" --draws 20000000 --quiet --out fit.nc &
id=$!
sleep 3
kill -TERM $id
wait $id
[ $? = 2 ] || fail "a clean stop"
exists fit.nc
absent fit.nc.part
rm fit.nc

# no room: for the spool, or only for what is made of it
(ulimit -f 1000; exec "${run[@]}" --draws 20000000 --quiet --out fit.nc) \
    >.out 2>.err
[ $? = 2 ] || fail "no room: status $?"
says 'fit.nc.part: cannot write: File too large: the run stops'
says '[1-9][0-9]* of 1000000 draws a chain are in fit.nc.part'
absent fit.nc
ls fit.nc.*.tmp 2>/dev/null && fail "left behind"
status 1 ./pump summary fit.nc
says 'fit.nc: cannot read: .*that run did not end: what it drew is in fit.nc.part'
status 0 ./pump summary fit.nc.part --out other.nc
prints 'Warning: the run was stopped early'
exists other.nc
for out in fit.nc fit.csv fit; do
    (ulimit -f 20; exec "${run[@]}" --draws 100000 --quiet --out $out \
        --format "$(case $out in *.nc) echo netcdf ;; *.csv) echo csv ;;
        *) echo coda ;; esac)") >.out 2>.err
    [ $? = 2 ] || fail "$out: no room: status $?"
    says 'File too large'
    ls fit.nc fit_1.csv fit*chain1.txt ./*.tmp 2>/dev/null && fail "left behind"
    rm -f fit.*
done

# a spool that ends anywhere, or of something else
cp other.nc fit.nc
size=$(stat -c %s other.nc)
for at in 0 1 15 16 17 60 200 500 1000 5000; do
    head -c $at other.nc >cut.nc
    status 1 ./pump summary cut.nc
    says 'cut.nc: '
done

# standard output must take what is printed
for command in "${run[*]} --draws 100" "./pump summary other.nc" "./pump info" \
    "./pump --help" "./pump --version" \
    "./pump check --data $examples/pump/data.json"; do
    $command >/dev/full 2>.err
    [ $? = 2 ] || fail "$command on a full standard output: status $?"
    says 'cannot write the output'
done
exit 0
