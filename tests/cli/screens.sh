#!/usr/bin/env bash
# The report as a browser shows it, light and dark, and a page of the
# documentation (tests/screens, which also takes all pages, by hand): something
# is in every part of it, in colours that can be read; a page without style, or
# without plots, is seen to be one.
source "$GBM_ROOT/tests/cli/lib"
patience=300
python=${GBM_PYTHON-python3}
gbm=$GBM_ROOT/$GBM_BUILD/gbm
"$python" -c 'import matplotlib, netCDF4' 2>/dev/null || {
    echo "no python3-matplotlib, python3-netcdf4"
    exit 77
}
command -v chromium >/dev/null || {
    echo "no chromium"
    exit 77
}
screens=("$python" "$GBM_ROOT/tests/screens" --high 1600)

status 0 "$gbm" new first
status 0 "$gbm" run -O 0 first/model.gbm first/data.json --log-lik \
    --device cpu --out fit.nc --quiet
status 0 "$gbm" report fit.nc --model first/model.gbm -o report.html
status 0 "${screens[@]}" --colours pictures report.html
prints '^1 pages: '
cmp -s pictures/report.light.png pictures/report.dark.png &&
    fail "dark is light"

# What it must see
sed 's/prefers-color-scheme: dark/prefers-color-scheme: none/g' report.html \
    >light.html
cmp -s report.html light.html && fail "the page has no dark colours"
status 1 "${screens[@]}" bad light.html
prints 'light.dark.png: its background is'
sed 's/<svg/<svg style="display:none"/g' report.html >plain.html
status 1 "${screens[@]}" --colours --light bad plain.html
prints 'plain.light.png: no colours'
sed 's/<\/head>/<style>* {color: white !important; border-color: white !important}<\/style>&/' \
    plain.html >white.html
status 1 "${screens[@]}" --light bad white.html
prints 'white.light.png: (nothing that can be read|it ends after)'

if command -v mkdocs >/dev/null; then
    status 0 "$GBM_ROOT/tools/site" --pictures none "$scratch/site"
    page=$(find "$scratch/site" -name 'tutorial*.html' | head -n 1)
    exists "${page:-tutorial.html}"
    status 0 "${screens[@]}" pictures "$page"
    prints '^1 pages: '
fi
exit 0
