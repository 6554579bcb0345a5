#!/usr/bin/env bash
# What is written out one by one, as scripts do, is compiled as a loop or a sum
# would be: 1000 statements, or terms of a sum, take no time, no memory and no
# longer a program; also where each node has a name of its own. Nodes that are
# not alike take some of each, but in proportion: an expression that they share
# is in memory once, and what two statements have nothing to do with is asked
# of neither. 1000 of them take 5 s and 300 MB at most.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v python3 >/dev/null; then
    echo "needs python3"
    exit 77
fi
python3 - <<'END'
import random
random.seed(1)

def write(name, form):
    for n in (10, 1000):
        with open(f"{name}.{n}.bug", "w") as f:
            f.write("model {\n" + form(range(1, n + 1), n) + "}\n")

priors = "a ~ dnorm(0, 1)\nb ~ dnorm(0, 1)\ntau ~ dgamma(1, 1)\n"
write("statements", lambda r, n: priors + "".join(
    f"y[{i}] ~ dnorm(a + b * {i}, tau)\n" for i in r))
write("pairs", lambda r, n: priors + "".join(
    f"mu[{i}] <- a + b * x[{i}]\ny[{i}] ~ dnorm(mu[{i}], tau)\n" for i in r))
write("numbers", lambda r, n: priors + "".join(
    f"y[{i}] ~ dnorm(a + b * {i * i % 17 / 10 - 0.5}, tau)\n" for i in r))
write("chain", lambda r, n: "x[1] ~ dnorm(0, 1)\n" + "".join(
    f"x[{i + 1}] ~ dnorm(x[{i}], 1)\ny[{i}] ~ dpois(exp(x[{i}]))\n" for i in r))
write("names", lambda r, n: priors + "".join(
    f"u{i} ~ dnorm(a, tau)\ny{i} ~ dpois(exp(u{i} + b * {i / 1000}))\n"
    for i in r))
write("named_sum", lambda r, n: "y ~ dnorm(" + " + ".join(
    f"b{i} * {i}" for i in r) + ", 1)\n" + "".join(
    f"b{i} ~ dnorm(0, 1)\n" for i in r))
write("named_chain", lambda r, n: "x1 ~ dnorm(0, 1)\n" + "".join(
    f"x{i} ~ dnorm(x{i - 1}, 1)\ny{i} ~ dpois(exp(x{i}))\n" for i in r[1:]))
write("computed", lambda r, n: priors + "".join(
    f"d{i} <- a * {i} + {i % 7}\n" for i in r)
    + "y ~ dnorm(" + " + ".join(f"d{i}" for i in r) + ", tau)\n")
write("apart", lambda r, n: "".join(
    f"u{i} ~ dnorm({f'u{i // 2}' if i > 1 else 0}, 1)\n"
    f"y{i} ~ dpois(exp(u{i}) + {'+'.join(['1'] * (i % 5 + 1))})\n"
    for i in range(1, n // 4 + 1)))
write("sum", lambda r, n: f"for (i in 1:{n}) {{ b[i] ~ dnorm(0, 1) }}\n"
      "y ~ dnorm(" + " + ".join(f"b[{i}] * {i}" for i in r) + ", 1)\n")
write("functions", lambda r, n: "tau ~ dgamma(1, 1)\n" + "".join(
    f"b{i} ~ dnorm(0, 1)\n" for i in r) + "y ~ dnorm(" + " + ".join(
    ("exp(b{0} / 10)", "log(1 + exp(b{0}))", "ilogit(b{0})", "b{0} * 0.5",
     "sin(b{0})")[i * i % 19 % 5].format(i) + f" * x{i}" for i in r)
    + ", tau)\n")
write("likelihood", lambda r, n: "p ~ dunif(0, 1)\nz ~ dpois(1000 - ll)\n"
      "ll <- " + " + ".join(f"log(p * v[{i}] + (1 - p) * w[{i}])" for i in r)
      + "\n")

# not alike: by the priors of the coefficients, by functions, by families
unlike = ["dnorm(0, 1)", "dt(0, 1, 4)", "dlogis(0, 1)", "dnorm(1, 2)"]
functions = ["exp({} / 10)", "log(1 + exp({}))", "ilogit({})", "{} * 0.5",
             "sin({})"]
families = ["dnorm({}, 1)", "dpois(exp({}))", "dbern(ilogit({}))",
            "dgamma(exp({}), 1)"]
def some(what, *of): return random.choice(what).format(*of)
def terms(r): return " + ".join(f"b{i} * x{i}" for i in r)
write("unlike_terms", lambda r, n: priors + "".join(
    f"b{i} ~ {some(unlike)}\n" for i in r) + f"y ~ dnorm({terms(r)}, tau)\n")
write("flat_terms", lambda r, n: priors + "".join(
    f"b{i} ~ dflat()\n" for i in r)
    + f"mu <- {terms(r)}\ny ~ dnorm(mu, tau)\n")
write("network", lambda r, n: "u0 ~ dnorm(0, 1)\n" + "".join(
    f"u{i} ~ " + some(families, some(functions, f"u{random.randrange(i)}"))
    + "\n" for i in r))
def node(i):
    mean = some(functions, f"u{random.randrange(i)}")
    if random.random() < 0.5:
        return f"u{i} ~ dnorm({mean}, 1)\n"
    return f"u{i} ~ dnorm(0, 1)\ny{i} ~ {some(families, mean)}\n"
write("observed_network", lambda r, n: "u0 ~ dnorm(0, 1)\n"
      + "".join(node(i) for i in r))
write("named_pairs", lambda r, n: priors + "".join(
    f"mu{i} <- a + b * x{i}\ny{i} ~ dnorm(mu{i}, tau)\n" for i in r))
write("cells", lambda r, n: "tau ~ dgamma(1, 1)\nx[1] ~ dnorm(0, 1)\n"
      + "".join(f"x[{i}] ~ " + some(["dnorm({}, tau)", "dnorm(2 * {}, 1)",
                                     "dnorm(exp({}), 1)", "dnorm(sin({}), tau)"],
                                    f"x[{random.randrange(1, i)}]") + "\n"
                for i in r[1:]))
END

# CPU milliseconds and KiB of gbmc itself
cost() {
    python3 - "$GBMC" "$1" <<'END'
import resource, subprocess, sys
gbmc, model = sys.argv[1:]
with open(model + ".c", "w") as out:
    subprocess.run([gbmc, "--emit=c", model + ".bug"], stdout=out, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)), used.ru_maxrss)
END
}
for form in statements pairs numbers chain sum functions likelihood names \
    named_sum named_chain computed; do
    read -r _ _ < <(cost $form.10)
    read -r time memory < <(cost $form.1000)
    bytes=$(($(wc -c <$form.1000.c) - $(wc -c <$form.10.c)))
    echo "$form: $time ms, $memory KiB, $bytes more bytes of C"
    [ "$time" -le 1000 ] && [ "$memory" -le 50000 ] && [ $bytes -le 120000 ] ||
        { echo "the cost grows with the text"; exit 1; }
done
read -r time memory < <(cost apart.1000)
echo "apart: $time ms, $memory KiB"
[ "$memory" -le 60000 ] || { echo "memory grows faster than the text"; exit 1; }
ulimit -v 1000000
for form in unlike_terms flat_terms network observed_network \
    named_pairs cells; do
    read -r time memory < <(cost $form.1000)
    echo "$form: $time ms, $memory KiB"
    [ "$time" -le 5000 ] && [ "$memory" -le 300000 ] ||
        { echo "the cost grows faster than the text"; exit 1; }
done
