#!/usr/bin/env bash
# A signal during compilation ends gbmc as a signal does, and leaves nothing:
# no half-written sampler, no temporary file, no compiler at work. So does a
# disk that is full.
source "$GBM_ROOT/tests/cli/lib"
pump=$examples/pump/pump.gbm

# a compiler that is slow: it has written some of its output, and has a child;
# five compile the parts of a program side by side
cat >slow <<'END'
#!/usr/bin/env bash
[[ " $* " = *" -### "* ]] && exit 1 # what it would do, it does not tell
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && echo some >"$2"
    shift
done
sleep 60 &
echo $! >child.$$
echo >>started
wait
END
chmod +x slow
for signal in TERM INT HUP; do
    rm -f started child.*
    (trap - INT; CC=$scratch/slow exec "$GBMC" "$pump" -o x) 2>.err &
    id=$!
    for _ in $(seq 100); do
        [ "$(cat started 2>/dev/null | wc -l)" = 5 ] || sleep 0.1
    done
    [ "$(cat child.* | wc -l)" = 5 ] || fail "not five compilers"
    [ "$(ls x.*.tmp* | wc -l)" = 7 ] || fail "nothing to be left behind"
    # background jobs of a shell ignore SIGINT, and so does what ignored it
    [ $signal = INT ] && wanted=130 || wanted=$((128 + $(kill -l $signal)))
    kill -$signal $id
    [ $signal = INT ] && sleep 0.5 && kill -TERM $id 2>/dev/null && wanted=143
    wait $id
    found=$?
    [ $found = $wanted ] || fail "$signal: status $found, not $wanted"
    ls x x.* 2>/dev/null && fail "$signal: left behind"
    sleep 0.2
    for child in $(cat child.*); do
        grep -q '^State:.[^Z]' "/proc/$child/status" 2>/dev/null &&
            fail "$signal: a compiler goes on"
    done
done

# no room for the program, none for the sampler
for blocks in 1 200; do
    (ulimit -f $blocks; exec "$GBMC" "$pump" -o x >.out 2>.err)
    found=$?
    [ $found = 2 ] || fail "a full disk: status $found"
    ls x x.* 2>/dev/null && fail "a full disk: left behind"
done
for option in "$pump --emit=c" "$pump --explain" --help --list --version \
    '--help dnorm'; do
    # shellcheck disable=SC2086 # two words
    "$GBMC" $option >/dev/full 2>.err
    found=$?
    [ $found = 2 ] || fail "$option on a full standard output: status $found"
    says 'space'
done
exit 0
