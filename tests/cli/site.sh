#!/usr/bin/env bash
# The documentation as pages: all of it, links that lead somewhere, scripts and
# styles that are there and from nowhere else; pictures of the examples that show
# what was drawn.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v mkdocs >/dev/null && ! { [ -n "${GBM_PYTHON-}" ] &&
    "$GBM_PYTHON" -c 'import mkdocs' 2>/dev/null; }; then
    echo "no mkdocs"
    exit 77
fi
pictures=none
if "${GBM_PYTHON-python3}" -c 'import matplotlib, netCDF4' 2>/dev/null; then
    pictures=line,pump
fi
status 1 "$GBM_ROOT/tools/site" --pictures pumps "$scratch/site"
says 'no example pumps'
status 0 "$GBM_ROOT/tools/site" --pictures "$pictures" "$scratch/site"
status 0 "$GBM_ROOT/$GBM_BUILD/gbm" run -O 1 "$examples"/pump/{pump.gbm,data.json} \
    --warmup 500 --draws 500 --seed 1 --quiet --summary pump.json
python3 - "$GBM_ROOT" "$pictures" <<'E2' || fail 'the pages'
import glob, json, os, re, sys
from html.parser import HTMLParser
root, pictures = sys.argv[1:]

class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.fetched = [], set(), []
        self.images = []
        self.feed(text)
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.update(filter(None, (a.get("id"), a.get("name"))))
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag == "img" and a["src"].endswith(".svg"):
            self.images.append(a["src"])
        fetched = a.get("src") or (tag == "link" and a.get("rel") != "canonical"
                                   and a.get("href"))
        if fetched:
            self.fetched.append(fetched)

pages = {os.path.relpath(p, "site"): Page(open(p).read())
         for p in glob.glob("site/**/*.html", recursive=True)}
for source in glob.glob(root + "/docs/*.md"):
    assert os.path.basename(source)[:-3] + ".html" in pages, source
for source in glob.glob(root + "/examples/*/README.md"):
    name = os.path.basename(os.path.dirname(source))
    assert f"examples/{name}.html" in pages, name
for source in glob.glob(root + "/bench/results/*.md"):
    assert "measured/" + os.path.basename(source)[:-3] + ".html" in pages, source
assert "measured/models.html" in pages["index.html"].links

# A picture of each that was asked for, on its page and on that of all; it has
# the names of the model.
names = [] if pictures == "none" else pictures.split(",")
assert sorted(pages["examples/index.html"].images) == [f"{n}.svg" for n in names]
for name in names:
    assert pages[f"examples/{name}.html"].images == [f"{name}.svg"], name
if names:
    drawn = {n: open(f"site/examples/{n}.svg").read() for n in names}
    titles = {n: set(re.findall("<text[^>]*>([^<]*)", drawn[n])) for n in names}
    assert {"alpha", "beta", "theta[10]: median and 90 %",
            "lambda[10]: median and 90 %"} <= titles["pump"], titles["pump"]
    assert {"alpha", "beta", "tau", "sigma"} <= titles["line"], titles["line"]
    medians = re.search('<g id="medians-theta">.*?</g>', drawn["pump"], re.S)
    heights = [float(y) for y in
               re.findall(r'<use[^>]* y="([\d.]+)"', medians.group())]
    with open("pump.json") as f:
        known = json.load(f)["parameters"]
    known = [known[f"theta[{i}]"]["q50"] for i in range(1, 11)]
    scale = (heights[9] - heights[0]) / (known[9] - known[0])
    assert scale < 0 and all(
        abs(heights[0] + scale * (k - known[0]) - h) < 0.01
        for k, h in zip(known, heights)), (heights, known)
n = 0
for name, page in pages.items():
    if name in ("404.html", "search.html"):
        continue
    for link in page.fetched:
        assert "//" not in link, (name, link)
        file = os.path.join("site", os.path.dirname(name), link)
        assert os.path.exists(file), (name, link)
    for link in page.links:
        if "//" in link or link.startswith(("mailto:", "javascript:")):
            continue
        file, _, part = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(name), file)) \
            if file else name
        target = os.path.join(target, "index.html") if target in (".", "examples") else target
        assert target in pages, (name, link)
        assert not part or part in pages[target].ids, (name, link)
        n += 1
assert n > 300, n
E2
