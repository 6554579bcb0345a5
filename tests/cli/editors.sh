#!/usr/bin/env bash
# What is written from the library's names is what the library has now; models
# are coloured to the last character, and names by what they are.
source "$GBM_ROOT/tests/cli/lib"
status 0 "$GBM_ROOT/tools/editors" "$scratch/editors"
for file in gbm.tmLanguage.json gbm.xml gbm_lexer.py \
    tree-sitter/queries/highlights.scm; do
    same "editors/$file" "$GBM_ROOT/editors/$file" # else: ninja docs
done
cp "$GBM_ROOT/docs/distributions.md" before.md
status 0 "$GBM_ROOT/tools/reference" "$scratch/now.md"
same now.md before.md

# The three have the same rules; TextMate's are tried here.
cat >words.gbm <<'E2'
given N, x[N]
model {
  for (i in 1:N) { beta[i] ~ dnorm(mu[i], 1.0E-3) T(0,)  # exp(
    mu[i] <- exp(log.a) + inprod(a[], b[]) + 2.5e+3L }
  data ~ dgamma(.5, T)
}
E2
python3 - "$GBM_ROOT" <<'E2' || fail 'colours'
import glob, json, re, subprocess, sys, xml.etree.ElementTree as tree
root = sys.argv[1]
rules = json.load(open(root + "/editors/gbm.tmLanguage.json"))["patterns"]
regexes = [(r["name"], re.compile(r["match"])) for r in rules if "match" in r]

def tokens(line):
    at = 0
    while at < len(line):
        name, m = next(((n, m) for n, r in regexes
                        if (m := r.match(line, at)) and m.end() > at),
                       (None, re.compile(r"[A-Za-z][\w.]*|.").match(line, at)))
        if name:
            yield name.split(".")[1], m.group().strip()
        at = m.end()

found = [t for line in open("words.gbm") for t in tokens(line.rstrip("\n"))]
plain = [t for t in found if t[0] != "operator"]
assert [t for t in plain if t[1] not in ("~", "<-", "+", ":")] == [
    ("type", "given"), ("type", "model"), ("control", "for"),
    ("control", "in"), ("numeric", "1"), ("type", "dnorm"),
    ("numeric", "1.0E-3"), ("modifier", "T"), ("numeric", "0"),
    ("line", "# exp("), ("function", "exp"), ("function", "inprod"),
    ("numeric", "2.5e+3L"), ("type", "dgamma"), ("numeric", ".5")], plain

xml = tree.parse(root + "/editors/gbm.xml")
strings = [r.get("String") for r in xml.iter("RegExpr")]
assert strings[:-1] == [r["match"] for r in rules[2:]]
known = subprocess.run([root + "/build/gbmc", "--list"], capture_output=True,
                       text=True, check=True).stdout
kinds = {"Distributions": "support.type.gbm", "Functions": "support.function.gbm"}
names = re.findall(r"^(\w+)$|^  ([A-Za-z][\w.]*)\(", known, re.M)
kind, n = None, 0
for heading, name in names:
    kind = heading or kind
    if heading or kind not in kinds:
        continue
    n += 1
    regex = dict(regexes)[kinds[kind]]
    hit = any(r.match(name + "(") for k, r in regexes if k in kinds.values())
    assert hit, name
assert n > 100, n
E2

if python3 -c 'import pygments' 2>/dev/null; then
    python3 - "$GBM_ROOT" <<'E2' || fail 'Pygments'
import glob, sys
root = sys.argv[1]
sys.path.insert(0, root + "/editors")
sys.dont_write_bytecode = True
from gbm_lexer import GbmLexer
from pygments.token import Error, Keyword, Name
files = glob.glob(root + "/examples/*/*.gbm") + glob.glob(root + "/stdlib/*/*.gbm")
assert len(files) > 100
for file in files:
    text = open(file).read()
    got = list(GbmLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(t for _, t in got) == text, file
    bad = [t for k, t in got if k in Error]
    assert not bad, (file, bad)
got = {t.strip(): k for k, t in GbmLexer().get_tokens(open("words.gbm").read())}
assert got["dnorm"] in Keyword.Type and got["exp"] in Name.Builtin
assert got["beta"] in Name and got["beta"] not in Name.Builtin
assert got["model"] in Keyword.Declaration
E2
fi
if command -v pandoc >/dev/null; then
    { echo '```gbm' && cat words.gbm && echo '```'; } >words.md
    status 0 pandoc --syntax-definition="$GBM_ROOT/editors/gbm.xml" words.md
    prints 'class="dt">dnorm<'
    prints 'class="kw">model<'
    [ ! -s .err ] || fail 'pandoc does not like gbm.xml'
fi
