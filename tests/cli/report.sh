#!/usr/bin/env bash
# gbm report: one page, whole in itself and well formed, with the parts that the
# files have and no others; numbers are the summary's; mistakes are told.
source "$GBM_ROOT/tests/cli/lib"
python=${GBM_PYTHON-python3}
"$python" -c 'import matplotlib, netCDF4' 2>/dev/null || {
    echo "no python3-matplotlib, python3-netcdf4"
    exit 77
}
gbm=$GBM_ROOT/$GBM_BUILD/gbm

cat >'my model.gbm' <<'E'
model {
  for (i in 1:N) { y[i] ~ dpois(lambda[i])  lambda[i] <- exp(a + e[i])
                   e[i] ~ dnorm(0, tau)  w[i] ~ dnorm(a, 1) }
  a ~ dnorm(0, 1)
  tau ~ dgamma(2, 1)
}
E
python3 - >data.json <<'E'
import json
print(json.dumps({"N": 40, "y": [(i * 7) % 5 for i in range(40)],
                  "w": [i % 3 if i != 4 else None for i in range(40)]}))
E
status 0 "$GBMC" -O 0 'my model.gbm' -o sampler
status 0 ./sampler --data data.json --device cpu --draws 200 --out fit.nc \
    --log-lik --profile
cp .out profile.txt
status 0 ./sampler --data data.json --device cpu --draws 200 --out bare.nc \
    --monitor a --moments none --chains 1 --no-check
status 0 ./sampler simulate --posterior --data data.json --draws 50 --out pp.nc
status 0 ./sampler simulate --data data.json --draws 50 --out prior.nc
status 0 ./sampler sbc --data data.json --replicates 20 --draws 19 \
    --warmup 100 --monitor a,tau --out sbc.json --threads 1
status 0 "$gbm" report bare.nc
says '^note: the report is bare.html$'
exists bare.html
grep -q 'Warning: drawn without self-check' bare.html || fail 'no word of --no-check'
status 0 "$gbm" report fit.nc -o 'a page.html' --model 'my model.gbm' \
    --predictive pp.nc --predictive prior.nc --sbc sbc.json \
    --profile profile.txt
status 0 ./sampler summary fit.nc --summary fit.json
status 1 "$gbm" report fit.nc -o no.html --show a,nothing
says "show nothing: there is nothing of this name in fit.nc"
absent no.html
status 1 "$gbm" report fit.nc -o no.html --profile data.json
says 'data.json is not what run --profile printed'
absent no.html
sed 's/.*<h2[^>]*>Time of each step//' <(tr '\n' ' ' <'a page.html') >steps
grep -qE '^</h2> *<pre>Where the time goes' steps || fail 'the steps alone'
status 1 "$gbm" report absent.nc
says 'cannot read absent.nc: No such file or directory$'
cat >look.py <<'E'
import html.parser
import json
import re
import sys

VOID = {"meta", "br", "link", "img", "hr"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.targets, self.labels = [], [], [], []
        self.heads, self.rows, self.cells, self.text = [], [], None, ""
        self.feed(text)
        assert not self.open, self.open

    def start(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        for name, value in attrs.items():
            assert name != "src" and not name.startswith("on"), (tag, name)
            if name.endswith("href"):
                assert value.startswith("#"), value
                self.targets.append(value[1:])
            self.targets += re.findall(r"url\(#([^)]*)\)", value or "")
            assert "url(" not in re.sub(r"url\(#", "", value or ""), value
        if attrs.get("role") == "img":
            self.labels.append(attrs["aria-label"])

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "img", "link"), tag
        self.start(tag, attrs)
        self.open += [] if tag in VOID else [tag]
        self.text = ""

    def handle_startendtag(self, tag, attrs):
        self.start(tag, attrs)

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())
        if tag == "h2":
            self.heads.append(self.text)
        if tag in ("th", "td"):
            if tag == "th":
                self.rows.append([])
            self.rows[-1].append(self.text)


def read(name):
    text = open(name, encoding="utf-8").read()
    assert text.startswith("<!DOCTYPE html>") and "http" not in text
    assert "@import" not in text and "prefers-color-scheme: dark" in text
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids), set(page.targets) - set(page.ids)
    assert page.labels and all(len(x) > 10 for x in page.labels), page.labels
    return text, page


text, page = read("bare.html")
assert page.heads == ["Overview", "Summary", "Convergence", "Quantities",
                      "Model"], page.heads
text, page = read("a page.html")
assert page.heads == [
    "Overview", "Summary", "Convergence", "Quantities",
    "Pairs of what mixes worst", "Predictive checks", "Leaving one out",
    "Simulation-based calibration", "Model", "Time of each step"], page.heads
s = json.load(open("fit.json"))
rows = {r[0]: r[1:] for r in page.rows if len(r) == 10}
assert "w[5]" in s["parameters"] and "w[4]" not in s["parameters"]
assert set(rows) - {"name"} == set(s["parameters"]), rows.keys()
for name, p in s["parameters"].items():
    for key, cell in zip(("mean", "sd"), rows[name]):
        assert abs(float(cell.replace(",", "")) - p[key]) <= \
            6e-4 * abs(p[key]) + 0.5 * (abs(p[key]) >= 1000), (name, cell)
    assert rows[name][-1] == f"{p['rhat']:.3f}", (name, rows[name])
for part in ("y, from the posterior", "w, from the posterior",
             "y, from the prior", "<details><summary>e: 40 values",
             "dpois(lambda[i])", "w[5]: density, trace", "a: density, trace"):
    assert part in text, part
assert "sampler" in text and "currentColor" in text
E
python3 look.py || fail "the page"
grep -q 'aria-label="Graph of the model' 'a page.html' ||
    ! command -v dot >/dev/null || fail "no graph"

# Statistics of replicated data, and the draws by name, are what they should be.
PYTHONPATH=$GBM_ROOT/command/report "$python" -B - <<'E' || fail "the numbers"
import numpy as np
import report
from fit import Draws, Fit
rows = dict(report.statistics(np.array([0.0, 1, 5]), np.array(
    [[0.0, 1, 5], [0, 0, 0], [2, 2, 8], [1, 1, 4]])))
assert rows["mean"][:1] == [2] and rows["mean"][3] == (1 + 2 / 2) / 4, rows
assert rows["largest"][3] == (1 + 1 / 2) / 4 and rows["largest"][0] == 5
assert rows["smallest"][3] == (2 + 2 / 2) / 4, rows
assert rows["share of zeros"][3] == (1 + 1 / 2) / 4, rows
import json
p = json.load(open("fit.json"))["parameters"]
draws = Draws(Fit("fit.nc"), p)
assert draws.names == list(p)
for name in draws.names:
    assert abs(draws.of(name).mean() - p[name]["mean"]) < 1e-6, name
    assert draws.of(name).shape == (4, 200)
E

# labels, where the data name dimensions
cat >schools.gbm <<'E'
model { for (i in 1:3) { y[i] ~ dnorm(theta[i], 1)  theta[i] ~ dnorm(0, 1) } }
E
echo '{"y": [1, 2, 3], "coords": {"school": ["A < B", "C", "D"]},
  "dims": {"theta": ["school"], "y": ["school"]}}' >schools.json
status 0 "$GBMC" -O 0 schools.gbm -o schools
status 0 ./schools --data schools.json --device cpu --draws 50 --out schools.nc \
    --quiet
status 0 "$gbm" report schools.nc
grep -q '<h3>theta\[A &lt; B\]' schools.html || fail "no labels"
grep -q '<th scope="row">theta\[C\]' schools.html || fail "no labels"

# what is wrong
refused() { # STATUS PATTERN OPTION...
    local wanted=$1 pattern=$2
    shift 2
    status "$wanted" "$gbm" report "$@"
    says "$pattern"
    absent no.html
    grep -q Traceback .err && fail "a Traceback"
    return 0
}
refused 1 'which draws'
refused 1 'cannot read absent.nc' absent.nc -o no.html
head -c 3000 fit.nc >cut.nc
refused 1 'cannot read cut.nc' cut.nc -o no.html
refused 1 'has no posterior' prior.nc -o no.html
refused 1 'cannot read nothing.gbm' fit.nc --model nothing.gbm -o no.html
refused 1 'cannot read gone.nc' fit.nc --predictive gone.nc -o no.html
refused 1 'data.json is not what sbc' fit.nc --sbc data.json -o no.html
refused 1 'see gbm report --help' fit.nc --colour red -o no.html
refused 2 'cannot write' fit.nc -o nowhere/no.html
mkdir broken
echo 'raise ImportError("no such library")' >broken/matplotlib.py
PYTHONPATH=broken refused 1 'apt-get install python3-matplotlib' fit.nc \
    -o no.html
GBM_PYTHON=/nowhere refused 1 'cannot run /nowhere' fit.nc -o no.html
status 0 "$gbm" report --help
prints 'predictive FILE.nc'
status 1 ./sampler report fit.nc
says 'gbm report fit.nc'
exit 0
