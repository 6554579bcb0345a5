#!/usr/bin/env bash
# The documentation as pages: all of it, links that lead somewhere, nothing that
# is fetched from elsewhere.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v mkdocs >/dev/null && ! { [ -n "${GBM_PYTHON-}" ] &&
    "$GBM_PYTHON" -c 'import mkdocs' 2>/dev/null; }; then
    echo "no mkdocs"
    exit 77
fi
status 0 "$GBM_ROOT/tools/site" "$scratch/site"
python3 - "$GBM_ROOT" <<'E2' || fail 'the pages'
import glob, os, sys
from html.parser import HTMLParser
root = sys.argv[1]

class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.fetched = [], set(), []
        self.feed(text)
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.update(filter(None, (a.get("id"), a.get("name"))))
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
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
n = 0
for name, page in pages.items():
    if name in ("404.html", "search.html"):
        continue
    for link in page.fetched:
        assert "//" not in link, (name, link)
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
