#!/usr/bin/env bash
# tree-sitter's parser of models (editors/tree-sitter) takes what gbmc takes, with
# the same operations, and colours names by what they are.
source "$GBM_ROOT/tests/cli/lib"
folder=$GBM_ROOT/editors/tree-sitter
if command -v node >/dev/null; then
    status 0 node "$GBM_ROOT/tests/cli/tree_sitter.js" "$folder"
fi
if command -v tree-sitter >/dev/null; then
    cp -r "$folder" anew
    (cd anew && status 0 tree-sitter generate)
    same anew/src/grammar.json "$folder/src/grammar.json"
fi
if [ ! -e /usr/include/tree_sitter/api.h ]; then
    echo "libtree-sitter-dev is not installed (./setup --all)"
    exit 77
fi
flags=(-std=c11 -O1 -Wall -Wextra -Wno-unused-but-set-variable "-I$folder/src")
status 0 gcc "${flags[@]}" -Werror -Wconversion -c "$folder/src/scanner.c"
status 0 gcc "${flags[@]}" -o trees "$GBM_ROOT/tests/cli/tree_sitter.c" \
    "$folder/src/parser.c" scanner.o -ltree-sitter
cd "$GBM_ROOT" || exit 1
mapfile -t files < <(ls examples/*/*.gbm stdlib/[adf]*/*.gbm \
    tests/models/*/*.{bug,gbm} tests/golden/{parse,sweep,plan,conditionals}/*.gbm)
[ ${#files[@]} -gt 500 ] || fail "only ${#files[@]} files"
"$scratch/trees" errors "${files[@]}" >"$scratch/.out" || fail 'not parsed'
cd "$scratch" || exit 1

# As gbmc writes a text with as few parentheses as there can be, one with a pair
# around each operation comes out the same if they stand where gbmc has them.
for file in "$GBM_ROOT"/{examples/*,tests/golden/parse,stdlib/*ion[is]*}/*.gbm; do
    ./trees parens "$file" >parens.gbm
    "$GBMC" --emit=ast "$file" >wanted 2>.err || continue
    "$GBMC" --emit=ast parens.gbm >found 2>.err || fail "parens in $file"
    same found wanted
    cmp -s "$file" parens.gbm || echo "$file" >>with
done
[ "$(wc -l <with)" -gt 100 ] || fail "only $(wc -l <with) with operations"

printf 'model { x <- 1 +\n  y ~ }\n' >broken.gbm
status 1 ./trees errors broken.gbm
prints '^broken.gbm:[12]:'

cat >words.gbm <<'E2'
given N, x[N]
model {
  for (i in 1:N) { beta[i] ~ dnorm(mu[i], 1.0E-3) T(0,)  # exp(
    mu[i] <- exp(log.a) + inprod(a[], b[]) %*% mine(2.5e+3L) }
  data ~ dgamma(.5, T)
}
samplers { beta : slice() }
distribution mine2(r) {
  support real(0, inf)
  mean mean /
    mean
  flat
}
E2
status 0 ./trees colours "$folder/queries/highlights.scm" words.gbm
grep -v '^\(operator\|punctuation\)' .out | tr '\n' ' ' >found
echo 'keyword given variable N variable x variable N keyword model' \
    'keyword.repeat for variable i keyword.repeat in number 1 variable N' \
    'variable beta variable i type.builtin dnorm variable mu variable i' \
    'number 1.0E-3 keyword T( number 0 comment # exp( variable mu variable i' \
    'function.builtin exp variable log.a function.builtin inprod variable a' \
    'variable b function mine number 2.5e+3L variable data' \
    'type.builtin dgamma number .5 variable T keyword samplers variable beta' \
    'function slice keyword distribution function mine2' \
    'variable.parameter r keyword support function real number 0' \
    'variable inf keyword mean variable mean variable mean keyword flat ' \
    >wanted
tr -d '\n' <wanted >one
same found one
