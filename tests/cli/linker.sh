#!/usr/bin/env bash
# A quick linker is asked for where one stands beside the system's compiler, and
# the compiler's own where a compiler is named or none does.
source "$GBM_ROOT/tests/cli/lib"
pump=$examples/pump/pump.gbm
real=$(command -v cc)

# links as the compiler would without being told, and says what it was told
mkdir bin
cat >bin/cc <<EOF
#!/usr/bin/env bash
kept=()
for word; do
    case \$word in
    -fuse-ld=*) echo "\${word#*=}" >>"$scratch/asked" ;;
    *) kept+=("\$word") ;;
    esac
done
exec "$real" "\${kept[@]}"
EOF
chmod +x bin/cc

# asks LINKER [NAME=VALUE ...]: what the compiler is asked for, once
asks() {
    local wanted=$1
    shift
    rm -f asked x
    status 0 env -u CC PATH="$scratch/bin:$PATH" GBM_CACHE=off "$@" \
        "$GBMC" "$pump" -o x
    exists x
    [ "$(cat asked 2>/dev/null)" = "$wanted" ] ||
        fail "asked for '$(cat asked 2>/dev/null)', not '$wanted'"
}

asks ''
printf '#!/bin/sh\nexit 1\n' >bin/ld.lld
chmod +x bin/ld.lld
asks lld
cp bin/ld.lld bin/ld.gold
asks gold
asks '' CC="$scratch/bin/cc"
