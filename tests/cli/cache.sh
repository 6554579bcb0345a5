#!/usr/bin/env bash
# What was compiled before is taken from the cache, as long as nothing that it
# depends on has changed; a cache that is damaged or cannot be used is as none.
source "$GBM_ROOT/tests/cli/lib"
mkdir -p built lib
cp "$GBM_ROOT/$GBM_BUILD"/{gbmc,libgbm.a,link_flags} built
cp -r "$GBM_ROOT/stdlib" lib/stdlib
mkdir lib/runtime
cp "$GBM_ROOT/runtime/model.h" lib/runtime
cp "$examples/pump/pump.gbm" "$examples/pump/data.json" .
# a compiler that notes its calls
cat >noting <<END
#!/bin/sh
case " \$* " in
*' -### '*) [ ! -e newer ] || echo a newer one >&2 ;;
*) echo "\$*" >>$scratch/calls ;;
esac
exec ${CC:-cc} "\$@"
END
chmod +x noting
export CC=$scratch/noting GBM_CACHE=$scratch/cache
export GBM_STDLIB=$scratch/lib/stdlib

# compiles WHY ARGUMENT...: gbmc makes x, and calls the compiler for it
# takes WHY ARGUMENT...: gbmc makes x, and does not
compiles() { made yes "$@"; }
takes() { made no "$@"; }
made() {
    local called=$1 why=$2
    shift 2
    rm -f calls x
    status 0 built/gbmc -O 0 "$@" -o x
    exists x
    [ -x x ] || fail "$why: what was made is no program"
    [ "$([ -e calls ] && echo yes || echo no)" = "$called" ] ||
        fail "$why: compiled? not $called"
}
works() {
    status 0 ./x --data data.json --quiet --warmup 20 --draws 20 --device cpu
}

compiles 'nothing is kept yet' pump.gbm
cp x first
takes 'the same again' pump.gbm
same x first
works
[ -x first ] && [ "$(stat -c %a x)" = "$(stat -c %a first)" ] ||
    fail 'its mode is another'
takes 'with an explanation' --explain pump.gbm
prints 'gamma'

# what it depends on
compiles 'another level' -O 1 pump.gbm
compiles 'another CPU' --cpu=portable pump.gbm
sed 's/dexp(1)/dexp(1.5)/' pump.gbm >other.gbm
mv pump.gbm before.gbm
mv other.gbm pump.gbm
compiles 'another model of this name' pump.gbm
mv before.gbm pump.gbm
takes 'the first model' pump.gbm
touch newer
compiles 'another compiler' pump.gbm
rm newer
echo '/* more */' >>lib/stdlib/kernels/gamma.h
compiles 'another header' pump.gbm
takes 'that header again' pump.gbm
echo '/* more */' >>lib/runtime/model.h
compiles 'another model.h' pump.gbm
echo more >more.txt
ar r built/libgbm.a more.txt 2>/dev/null
compiles 'another runtime' pump.gbm
sed -i 's/$/ -lpthread/' built/link_flags
compiles 'other libraries' pump.gbm
C_INCLUDE_PATH=/usr/share compiles 'another path of headers' pump.gbm

# when it is not asked for
compiles '--no-cache' --no-cache pump.gbm
GBM_CACHE=off compiles 'GBM_CACHE=off' pump.gbm
compiles '--save-temps' --save-temps pump.gbm
exists x.c
# which alone keeps what debuggers read: of libgbm.a it is most
debugged() { readelf -S x | grep -q '\.debug_'; }
debugged || fail "--save-temps: nothing for a debugger"
rm -r cache
compiles '--no-cache' --no-cache pump.gbm
debugged && fail "a sampler has what debuggers read"
absent cache

# damage
compiles 'a new cache' pump.gbm
entry=$(echo cache/*.sampler)
printf 'X' | dd of="$entry" bs=1 seek=100000 conv=notrunc 2>/dev/null
compiles 'a damaged byte' pump.gbm
works
takes 'mended' pump.gbm
truncate -s -1000 "$entry"
compiles 'a short one' pump.gbm
: >"$entry"
compiles 'an empty one' pump.gbm
rm "$entry"
mkdir "$entry"
compiles 'a folder in its place' pump.gbm
works
rmdir "$entry"

# no place for it
chmod 777 cache
compiles 'anybody may write there' pump.gbm
compiles 'and so nothing was kept' pump.gbm
chmod 700 cache
for nowhere in /dev/null/cache /proc/no/cache; do
    GBM_CACHE=$nowhere compiles "$nowhere" pump.gbm
    works
done
(unset GBM_CACHE XDG_CACHE_HOME; HOME=/dev/null compiles 'no home' pump.gbm) ||
    exit 1
(unset GBM_CACHE XDG_CACHE_HOME HOME; compiles 'homeless' pump.gbm) || exit 1
(unset GBM_CACHE
    export XDG_CACHE_HOME=$scratch/of_user
    compiles 'of the user' pump.gbm
    takes 'of the user' pump.gbm) || exit 1
ls of_user/gbm/*.sampler >.out || fail 'not in XDG_CACHE_HOME/gbm'
if [ "$(id -u)" != 0 ]; then
    compiles 'to be read' pump.gbm
    chmod 500 cache
    takes 'a cache that may be read alone' pump.gbm
    compiles 'and not be written' -O 1 pump.gbm
    chmod 700 cache
fi

# an error is one whether or not anything is kept
printf 'model { x ~ dnrom(0, 1) }\n' >wrong.bug
status 1 built/gbmc wrong.bug -o x
says 'did you mean .*dnorm'

# several at once
rm -r cache
for i in 1 2 3 4; do
    built/gbmc -O 0 pump.gbm -o "at_once$i" 2>".err$i" &
    jobs[i]=$!
done
for i in 1 2 3 4; do
    wait "${jobs[i]}" || fail "several at once: $(cat .err$i)"
    mv "at_once$i" x
    works
done
[ "$(ls -A cache | wc -l)" = 1 ] || fail "several at once: $(ls -A cache)"

# its size: what was used least recently goes, and nothing of others
rm -r cache
compiles 'one' pump.gbm
export GBM_CACHE_MB=$(($(stat -c %s cache/*.sampler) * 5 / 2 >> 20))
echo mine >cache/of_others
compiles 'two' -O 1 pump.gbm
takes 'one' pump.gbm
compiles 'three' --cpu=portable pump.gbm
takes 'one was used' pump.gbm
takes 'three is new' --cpu=portable pump.gbm
compiles 'two is gone' -O 1 pump.gbm
exists cache/of_others
[ "$(ls cache | wc -l)" = 3 ] || fail "too many: $(ls -l cache)"
exit 0
