#!/usr/bin/env bash
# Names of files and folders as they may be: they reach the C program, the C
# compiler and the messages as they are, and none is taken for an option.
source "$GBM_ROOT/tests/cli/lib"

cat >model.txt <<'END'
model { # an early */ comment
  for (i in 1:3) {
    y[i] ~ dnorm(mu, /* a comment */ 1) # and /* another
  }
  mu ~ dnorm(0, # to the end
             0.01)
  r[1:2] ~ dnorm(0, 1)
  z <- sum(x[(1 %*% 1):n])
}
END
echo '{"y": [1, 2, 3], "x": [1, 2], "n": 2}' >data.json
sed -i '/r\[1/d' model.txt

# named MODEL OUTPUT...: compiles it and runs what comes out
named() {
    local path=$1
    shift
    case $path in */*) mkdir -p -- "${path%/*}" ;; esac
    cp model.txt "./$path"
    status 0 "$GBMC" -O 0 "$@" -- "$path"
}
works() {
    exists "$1"
    status 0 "$1" --data data.json --quiet --warmup 10 --draws 20 --out fit.csv
    status 0 "$1" info
}

named $'a"b\\c\nd%s??/e.bug' -o 'a "b'
works './a "b'
status 0 './a "b' info
prints '%s\?\?/e.bug'
named 'star*/slash*/x.bug' -o -x
works ./-x
named -dash.bug # by default the model's name
works ./-dash
named @at.bug
works ./@at
named $'\xff\xc3\xa9.bug' -o "it's, \$HOME;\`x\`"
works "./it's, \$HOME;\`x\`"
named plain.bug -o 'per%cent' --save-temps
works './per%cent'
exists 'per%cent.c'
cp model.txt -- -I.bug
status 0 "$GBMC" --dag=-o.dot ./-I.bug
exists ./-o.dot

# the library in such a folder
mkdir -p "lib, 'a' \"b\"/runtime"
cp -r "$GBM_ROOT/stdlib" "lib, 'a' \"b\"/stdlib"
cp "$GBM_ROOT"/runtime/*.h "lib, 'a' \"b\"/runtime"
status 0 env GBM_STDLIB="lib, 'a' \"b\"/stdlib" "$GBMC" -O 0 plain.bug -o lib.x
works ./lib.x

# nothing is left behind
ls -A | grep -E '\.tmp|\.[0-9]+\.' && fail "left behind"
exit 0
