#!/usr/bin/env bash
# LOO and WAIC of eight models (tests/criteria) are those of R's package loo and
# of ArviZ from the same draws, to 1e-8; DIC is that of R's densities, and its mean
# deviance that of JAGS (rjags' dic.samples). Whatever of these is there;
# $GBM_PYTHON names a Python that has ArviZ.
source "$GBM_ROOT/tests/cli/lib"
python=${GBM_PYTHON:-python3}
patience=400
models=$GBM_ROOT/tests/criteria
beside=()
Rscript -e 'quit(status = !requireNamespace("jsonlite", quietly = TRUE))' \
    >/dev/null 2>&1 && beside+=(R)
"$python" -c 'import arviz' 2>/dev/null && beside+=(ArviZ)
if [ ${#beside[@]} = 0 ]; then
    echo "neither R with jsonlite nor Python with ArviZ"
    exit 77
fi
for model in "$models"/*.bug; do
    name=$(basename "$model" .bug)
    status 0 "$GBMC" -O 0 "$model" -o "$name"
    status 0 "./$name" --data "$models/$name.json" --quiet --chains 3 \
        --draws 1000 --log-lik --monitor all,deviance --seed 2 \
        --device cpu --threads 1 --out "$name.nc" --summary "$name.json"
    status 0 "./$name" summary "$name.nc" --out "$name.csv" --digits 17
done
for other in "${beside[@]}"; do
    case $other in
    R) status 0 Rscript "$models/compare.R" . ;;
    ArviZ) status 0 "$python" "$models/compare.py" . ;;
    esac
    prints '^eight models: LOO'
    cat .out
done
exit 0
