#!/usr/bin/env bash
# A subscript that the state decides and that lies outside its array: the state
# has density 0 in every sampler, and nothing outside is read. One that data
# decide is an error that names the statement and the value.
source "$GBM_ROOT/tests/cli/lib"

echo '{"y": [-1, 0, 1]}' >y.json
echo '{"y": [-1, 0, 1], "g": [1, 1, 1]}' >g.json

# fractions NAME MODEL DATA WANTED...: k is 0, 1, ... with these probabilities
fractions() {
    local name=$1 model=$2 data=$3
    shift 3
    echo "$model" >"$name.gbm"
    status 0 "$GBMC" "$name.gbm" -o "$name"
    for plain in "" --plain; do
        status 0 "./$name" --data "$data" --device cpu --chains 2 --draws 6000 \
            --monitor k --quiet $plain --out "$name.csv"
        cat "$name"*.csv | grep -v '^#' >all
        rm -f "$name"*.csv
        awk -F, -v wanted="$*" '
            { for (i = 1; i <= NF; i++) if ($i == "k") { at = i; next } }
            at { n++; count[$at]++ }
            END {
                cells = split(wanted, p, " ")
                for (i = 1; i <= cells; i++) sum += p[i]
                for (k in count) if (k < 0 || k >= cells) bad = 1
                for (i = 1; i <= cells; i++) {
                    share = count[i - 1] / n
                    if ((share - p[i] / sum)^2 > 0.03^2) bad = 1
                    printf "%d: %.3f, wanted %.3f\n", i - 1, share, p[i] / sum
                }
                exit bad || n < 12000
            }' all >.out || fail "$name $plain: k"
    done
}

fractions scalar 'model {
  for (i in 1:3) { y[i] ~ dnorm(m[k + 1], 1) }
  for (j in 1:3) { m[j] ~ dnorm(0, 1) }
  k ~ dpois(2)
}' y.json 1 2 2

fractions below 'model {
  for (i in 1:3) { y[i] ~ dnorm(m[3 - k], 1) }
  for (j in 1:3) { m[j] ~ dnorm(0, 1) }
  k ~ dpois(2)
}' y.json 1 2 2

fractions matrix 'model {
  for (i in 1:3) { y[i] ~ dnorm(m[2, k + 1], 1) }
  for (a in 1:2) { for (j in 1:3) { m[a, j] ~ dnorm(0, 1) } }
  k ~ dpois(2)
}' y.json 1 2 2

fractions row 'model {
  y[1:3] ~ dmnorm(m[k + 1, 1:3], I)
  for (a in 1:2) { for (j in 1:3) { m[a, j] <- 0 * a } }
  for (a in 1:3) { for (j in 1:3) { I[a, j] <- equals(a, j) } }
  k ~ dpois(2)
}' y.json 1 2

fractions nested 'model {
  for (i in 1:3) { y[i] ~ dnorm(b[g[k + 1]], 1) }
  for (j in 1:2) { b[j] ~ dnorm(0, 1) }
  k ~ dpois(2)
}' g.json 1 2 2

# The same in data
cat >data.gbm <<'END'
model {
  for (i in 1:3) { y[i] ~ dnorm(m[g[i]], 1) }
  for (j in 1:2) { m[j] ~ dnorm(0, 1) }
}
END
status 0 "$GBMC" data.gbm -o data
echo '{"y": [-1, 0, 1], "g": [1, 2, 3]}' >g.json
for what in run simulate 'simulate --posterior' geweke; do
    # shellcheck disable=SC2086
    status 1 ./data $what --data g.json --device cpu --draws 10
    says 'data.gbm:2'
    says 'is 3'
done

# The same where the turns of a sum or of an array take it: the first, the last
# or one between leads out.
# leads NAME DATA SAYS MODEL
leads() {
    echo "model { $4 }" >"$1.gbm"
    status 0 "$GBMC" -O 0 "$1.gbm" -o "$1"
    echo "$2" >"$1.json"
    status 1 "./$1" --data "$1.json" --device cpu --draws 10
    says "$1.gbm:[0-9]+:.*$3"
}
leads before '{"y": [1, 2], "K": [2, 3]}' 'y\[1\].*subscript 2 of w is 0' '
  for (i in 1:2) { y[i] ~ dnorm(sum(w[i,(1:K[i]) - 1]), 1) }
  for (i in 1:2) { for (k in 1:3) { w[i,k] ~ dnorm(0, 1) } }'
leads behind '{"y": [1, 2, 3], "K": [1, 2, 3], "X": [[1, 2], [3, 4], [5, 6]]}' \
    'y\[3\].*subscript 2 of X is 3' '
  for (i in 1:3) { y[i] ~ dnorm(inprod(X[i,1:K[i]], b[1:K[i]]), 1) }
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }'
leads between '{"y": [1, 2], "g": [[1, 2, 1], [2, 900000000, 1]]}' \
    'y\[2\].*subscript 1 of b is 900000000' '
  for (i in 1:2) { y[i] ~ dnorm(sum(b[g[i,1:3]]), 1) }
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }'
leads weights '{"y": [1, 2], "K": 3, "p": [[0.5, 0.5], [0.5, 0.5]], "a": [2, 2, 2]}' \
    'subscript 2 of p is 3' '
  for (i in 1:2) { y[i] ~ dcat(p[i,1:K]) }
  q ~ ddirch(a[])'
leads named '{"y": [1, 2], "K": 3}' 'subscript 1 of b is 3' '
  for (i in 1:2) { y[i] ~ dnorm(mu[i], 1); mu[i] <- i * mean(b[1:K]) }
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }'

# No subscript and no end of a range is cut off to a whole number, as in JAGS; one
# that rounding has put beside it is that number: 49 / 49.
leads half '{"y": [1, 2, 3, 4]}' 'y\[2\].*subscript 1 of b is 1.5, but must be a whole' '
  for (i in 1:4) { y[i] ~ dnorm(b[(i + 1) / 2], 1) }
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }'
says '^half.gbm:2:[0-9]+: y\[4\]: subscript 1 of b is 2.5'
leads end '{"y": [1, 2, 3, 4], "N": 7}' 'last of loop i is 3.5' '
  b ~ dnorm(0, 1)
  for (i in 1:(N / 2)) { y[i] ~ dnorm(b, 1) }'
leads range '{"y": [1], "N": 3}' 'last of 1:\(N / 2\) is 1.5' '
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }
  y ~ dnorm(sum(b[1:(N / 2)]), 1)'
leads computed '{"y": [1, 2]}' 'subscript 1 of b is 1.5' '
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }
  for (i in 1:2) { at[i] <- i / 2 + 0.5; y[i] ~ dnorm(b[at[i]], 1) }'
leads fraction '{"y": [1, 2], "n": 49, "K": 1}' 'y\[2\].*of b is 2, but' '
  for (i in 1:2) { y[i] ~ dnorm(b[i * n / 49], 1) }
  for (k in 1:K) { b[k] ~ dnorm(0, 1) }'
# a turn that reads something else, and turns that there are none of
cat >within.gbm <<'END'
model {
  for (i in 1:2) { y[i] ~ dnorm(sum(c(a[], b[])) + sum(b[K[i]:2]), 1) }
  for (k in 1:3) { a[k] ~ dnorm(0, 1) }
  for (k in 1:2) { b[k] ~ dnorm(0, 1) }
  z ~ dnorm(sum(v[1:K[1]]) + prod(v[]), 1)
  for (k in 1:2) { v[k] <- b[3 - k] }
}
END
status 0 "$GBMC" -O 0 within.gbm -o within
echo '{"y": [1, 2], "K": [1, 2]}' >within.json
status 0 ./within --data within.json --device cpu --draws 10 --quiet

# A category that the search for a start tries beyond its probabilities: there is
# none, and nothing is read there.
cat >none.gbm <<'END'
model {
  for (i in 1:3) { y[i] ~ dnorm(sum(w[i,(1:k) - 1]), 1) }
  for (i in 1:3) { for (j in 1:3) { w[i,j] ~ dnorm(0, 1) } }
  k ~ dcat(p[])
}
END
status 0 "$GBMC" -O 0 none.gbm -o none
echo '{"y": [1, 2, 3], "p": [0.2, 0.3, 0.5]}' >none.json
status 1 ./none --data none.json --device cpu --draws 10
says 'none.gbm:2:[0-9]+: no starting point .*density of y\[1\] is not a number'
says '^subscript 2 of w is 0, but its extent is 3'

# Which subscript it is, of the node itself or of what is computed for it.
# nowhere NAME DATA SAYS MODEL
nowhere() {
    echo "model { $4 }" >"$1.gbm"
    status 0 "$GBMC" -O 0 "$1.gbm" -o "$1"
    echo "$2" >"$1.json"
    status 1 "./$1" --data "$1.json" --device cpu --draws 10
    says "$3"
}
nowhere added '{"y": [1, 2], "z": [1, -8]}' \
    '^subscript 2 of w is -8, but its extent is 2' '
  for (i in 1:2) { y[i] ~ dnorm(w[i,k + z[i]], 1) }
  for (i in 1:2) { for (j in 1:2) { w[i,j] ~ dnorm(0, 1) } }
  k ~ dpois(0.1)'
nowhere through '{"y": [1, 2], "p": [0.5, 0.5]}' \
    '^of m\[1\]: subscript 1 of w is -[23], but its extent is 2' '
  for (i in 1:2) { y[i] ~ dnorm(exp(m[i]), 1) }
  for (i in 1:2) { m[i] <- w[k - 4] * i }
  for (j in 1:2) { w[j] ~ dnorm(0, 1) }
  k ~ dcat(p[])'

# The first states are two, all later ones three: what is told by the state is a
# table with a cell for each of three, which two rows can't fill.
cat >first.gbm <<'M'
model {
  for (i in 1:N) {
    z[i,f[i]] ~ dcat(p0[])
    y[i,f[i]] ~ dcat(E[z[i,f[i]],])
    for (t in (f[i]+1):3) {
      z[i,t] ~ dcat(PS[z[i,t-1],])
      y[i,t] ~ dcat(PO[z[i,t],])
    }
  }
  for (s in 1:2) {
    p0[s] <- 0.5
    E[s,s] <- d
    E[s,3-s] <- 1 - d
    PS[s,s] <- 0.5
    PS[s,3-s] <- 0.3
    PS[s,3] <- 0.2
    PO[s,s] <- d
    PO[s,3-s] <- 1 - d
    PO[s,3] <- 0.1
  }
  for (s in 1:3) {
    PS[3,s] <- equals(s, 3)
    PO[3,s] <- d*equals(s, 3) + 0.1
  }
  d ~ dbeta(2, 1)
}
M
echo '{"N": 4, "f": [1, 2, 1, 2],
 "y": [[1, 1, 3], [null, 2, 2], [2, 1, 1], [null, 1, 2]]}' >first.json
status 0 "$GBMC" first.gbm first.json -o first
status 0 ./first check --data first.json
for plain in "" --plain; do
    status 0 ./first --data first.json --draws 5000 --monitor d --quiet $plain \
        --summary told$plain.json
done
python3 -c 'import json
a, b = (json.load(open(f"told{p}.json"))["parameters"]["d"]["mean"]
        for p in ("", "--plain"))
exit(abs(a - b) > 0.01 and f"d is {a}, plainly {b}")' || fail "first states"

# Data that a subscript compares may be any numbers; the posterior of cut and b
# is that of the same model with the two cases written apart
cat >compared.gbm <<'M'
model {
  for (i in 1:n) { y[i] ~ dnorm(b[1 + step(x[i] - cut)], 4) }
  for (j in 1:2) { b[j] ~ dnorm(0, 0.1) }
  cut ~ dunif(0, 2)
}
M
sed 's/b\[1 + step(x\[i\] - cut)\]/ifelse(x[i] >= cut, b[2], b[1])/' compared.gbm \
    >apart.gbm
echo '{"n": 6, "x": [0.15, 0.4, 0.75, 1.2, 1.5, 1.85],
 "y": [0.1, -0.3, 0.9, 1.4, 1.1, 1.9]}' >compared.json
for model in compared apart; do
    status 0 "$GBMC" -O1 $model.gbm -o $model
    status 0 ./$model check --data compared.json
    status 0 ./$model --data compared.json --draws 10000 --quiet \
        --monitor b,cut --summary "drawn_$model.json"
done
python3 - <<'E' || fail "a subscript that compares"
import json, math, sys
a, b = (json.load(open(f"drawn_{m}.json"))["parameters"]
        for m in ("compared", "apart"))
bad = 0
for k in a:
    z = (a[k]["mean"] - b[k]["mean"]) / math.hypot(a[k]["mcse"], b[k]["mcse"])
    print(k, a[k]["mean"], b[k]["mean"], z)
    bad += not abs(z) < 4
sys.exit(bad)
E
