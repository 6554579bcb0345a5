#!/usr/bin/env bash
# Manual pages and completions say what --help says: every command and every
# option of both programs is in each.
source "$GBM_ROOT/tests/cli/lib"
build=$GBM_ROOT/$GBM_BUILD
export PATH=$build:$PATH
status 0 "$GBM_ROOT/tools/manual" "$build" "$scratch"
share=$scratch/share

# options COMMAND...: the names that its help has.
options() {
    "$@" | grep -oE '^  (-[-A-Za-z]+)' | tr -d ' '
}

for program in gbm gbmc; do
    page=$share/man/man1/$program.1
    status 0 cat "$page"
    prints '^\.SH NAME'
    if command -v man >/dev/null; then
        status 0 env MANROFFOPT=-ww man --warnings -l "$page"
        [ ! -s .err ] || fail "$page: not as man wants it"
        tr -d '\010' <.out >page.txt
    else
        sed 's/\\-/-/g' "$page" >page.txt
    fi
    if [ $program = gbm ]; then
        named=$(options gbm help run; options gbm report --help)
        gbm help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
        [ "$(wc -l <commands)" -gt 10 ] || fail 'no commands in gbm help'
        while read -r command; do
            grep -qE "^ +gbm $command( |\$)|^\.B gbm $command( |\$)" page.txt ||
                fail "$page has no $command"
        done <commands
    else
        named=$(options gbmc --help)
    fi
    [ "$(wc -w <<<"$named")" -gt 10 ] || fail "no options of $program"
    for option in $named; do
        grep -qE "^(\.B | +)(-., |-. FILE, )?${option}([ =,]|\$)" page.txt ||
            fail "$page has no $option"
        grep -qF -- "*$option" "$share/zsh/site-functions/_$program" ||
            fail "zsh's completion of $program has no $option"
    done
done

# What bash offers for the last of these words.
offers() {
    bash --norc -c '
        source "$1/bash-completion/completions/$2"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "_$1" 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' - "$share" "$@" >.out
}
same <(offers gbm '' && sort .out) <(sort commands)
offers gbm run --
same <(sort .out) <(options gbm help run | sort)
offers gbmc -
same <(sort .out) <(options gbmc --help | sort)
offers gbm run m.gbm --sort ''
same .out <(printf '%s\n' model name rhat ess)
offers gbm run m.gbm --method opt
same .out <(echo optimize)
offers gbmc --emit = pl
same .out <(echo plan)
offers gbm library dgamm
same .out <(echo dgamma)
offers gbm help su
same .out <(echo summary)
echo 'model { }' >only.gbm
offers gbm run on
same .out <(echo only.gbm)
offers gbm run m.gbm --chains on
same .out <(echo)

if command -v zsh >/dev/null; then
    for file in "$share"/zsh/site-functions/_*; do
        status 0 zsh -n "$file"
    done
fi
