#!/usr/bin/env bash
# What a distribution that stands for another requires of its own parameters
# holds, though the other's do not tell: a square forgets the sign of a scale.
source "$GBM_ROOT/tests/cli/lib"

echo '{"y": [1, 0.3, 4], "N": 3}' >y.json
for d in 'normal(0, s)' 'lognormal(0, s)' 'student_t(3, 0, s)' 'cauchy(0, s)'; do
    printf 'model {\n  s ~ dnorm(0, 1)\n  %s\n}\n' \
        "for (i in 1:N) { y[i] ~ $d }" >model.gbm
    status 0 "$GBMC" -O 0 model.gbm -o model
    status 0 ./model check --data y.json
    status 0 ./model --data y.json --device cpu --draws 200 --monitor s \
        --out s.csv
    cat s_*.csv | grep -vE '^#|lp__' | cut -d, -f8 | grep -q '^-' &&
        fail "$d: a negative scale"
    rm -f s_*.csv
done

printf 'model {\n  m ~ dnorm(0, 1)\n  %s\n}\n' \
    'for (i in 1:3) { y[i] ~ normal(m, s[i]) }' >model.gbm
echo '{"y": [-1, 0, 1], "s": [1, -2, 1]}' >s.json
status 0 "$GBMC" -O 0 model.gbm -o model
for what in run simulate geweke; do
    status 1 ./model $what --data s.json
    says 'the parameters of normal at y\[2\] break the rule sigma > 0'
done

# A rule of each element, of data alone, in runs and in forward draws.
echo '{"y": 1, "p": [[1, 2, 0], [1, -0.1, 2]]}' >p.json
for last in 'z[i] ~ dcat(p[i,])' 'z[i,1:3] ~ ddirch(p[i,])' \
    'z[i,1:3] ~ dmulti(p[i,], 4)'; do
    printf 'model {\n  m ~ dnorm(0, 1)\n  y ~ dnorm(m, 1)\n  %s\n}\n' \
        "for (i in 1:2) { $last }" >model.gbm
    status 0 "$GBMC" -O 0 model.gbm -o model
    for what in run simulate geweke; do
        status 1 ./model $what --data p.json --draws 20
        says 'model\.gbm:4:20: .*z\[2.* break the rule .*\[j\] >= 0'
    done
done
