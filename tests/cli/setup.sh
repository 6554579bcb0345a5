#!/usr/bin/env bash
# ./setup installs what is needed, and says what is optional; with --all it
# installs that, too.
source "$GBM_ROOT/tests/cli/lib"
mkdir tools programs
cp "$GBM_ROOT/tools/cuda" tools/
sed -e "s|^needs='|&\nneeded-package command needed-program|" \
    -e "s|^optional='|&\nwished-package command wished-program for a wish|" \
    "$GBM_ROOT/setup" >setup
# `apt-get install`: what it was asked for.
cat >programs/apt-get <<'E2'
#!/bin/sh
for word; do
    case $word in
    *-package) echo "$word" >>asked && touch "programs/${word%package}program" ;;
    esac
done
chmod +x programs/*
E2
cp programs/apt-get programs/sudo # $@ has apt-get's words
chmod +x setup programs/*
export PATH=$scratch/programs:$PATH

status 1 ./setup --check
prints '^setup: missing:.* needed-package'
prints '^  wished-package +for a wish$'
absent asked
status 0 ./setup
same asked <(echo needed-package)
prints '^setup: installed .*needed-package'
prints '^  wished-package +for a wish$'
rm asked
status 0 ./setup
prints '^setup: nothing to install$'
prints '^  wished-package +for a wish$'
absent asked
status 0 ./setup --all
grep -qx wished-package asked || fail '--all does not install it'
grep -q needed asked && fail '--all installs what is there'
status 0 ./setup --check
grep -q wished .out && fail 'still wished'
status 1 ./setup --al
says 'unknown option --al'
status 0 ./setup --help
prints '^  ./setup --all '
