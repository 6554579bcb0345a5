#!/usr/bin/env python3
"""gbm report: one page of a fit, whole in itself: it needs neither network nor
other files."""
import argparse
import html
import json
import os
import re
import sys

NEEDS = """error: gbm report needs numpy, matplotlib and netCDF4 for Python ({}).
  Debian: apt-get install python3-matplotlib python3-netcdf4
  else:   pip install matplotlib netCDF4
  {} was asked; $GBM_PYTHON names another (Debian's is /usr/bin/python3)."""

FOLDED = 30  # elements of arrays that the table folds
SHOWN = 12   # quantities with pictures
PAIRED = 4


def escape(text):
    return html.escape(str(text), quote=True)


def figure(svg, alternative, caption=""):
    caption = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (f'<figure><div role="img" aria-label="{escape(alternative)}">{svg}'
            f"</div>{caption}</figure>")


def number(x):
    if x is None:
        return "-"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def table(columns, rows):
    """Rows are a name and its cells; a cell may be a text."""
    head = "".join(f'<th scope="col">{escape(c)}</th>' for c in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>' + "".join(
            f"<td>{escape(c if isinstance(c, str) else number(c))}</td>"
            for c in cells) + "</tr>" for name, cells in rows)
    return (f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


# ---- sections: each gives its heading and its text, or None


def overview(page):
    run, s = page.fit.run, page.summary
    said = page.said.split("\n")
    begin = next((i for i, line in enumerate(said)
                  if re.match(r"\d+ chains? |Warning: ", line)), None)
    verdict = []
    if begin is not None:
        for line in said[begin:]:
            if not line.strip() or line.startswith(("LOO", "Mean dev")):
                break
            verdict.append(line)
    bad = any(line.startswith("Warning") for line in verdict) or \
        not s.get("complete", True)
    timing = s["timing"]
    rows = [(k, [str(v)]) for k, v in (
        ("chains", s["chains"]), ("draws of each", s["draws"]),
        ("sweeps of warm-up", run.get("tuning_steps", "-")),
        ("seed", run.get("seed", "-")), ("device", run.get("device", "-")),
        ("data", run.get("data", "-")),
        ("warm-up, seconds", f"{timing['warmup_s']:.3g}"),
        ("sampling, seconds", f"{timing['sampling_s']:.3g}"),
        ("smallest ESS a second",
         number(s["worst"].get("ess_per_s"))))]
    text = f'<p class="{"alarm" if bad else "good"}">' + \
        escape("\n".join(verdict)).replace("\n", "<br>") + "</p>"
    if not s.get("complete", True):
        text += '<p class="alarm">The run was stopped before its end.</p>'
    return "Overview", text + table(["run", ""], rows)


def array_of(name):
    return name.split("[")[0]


COLUMNS = ["mean", "sd", "mcse", "q5", "q50", "q95", "ess_bulk", "ess_tail",
           "rhat"]


def summary_table(page):
    parts, groups = [], {}
    for name, row in page.parameters.items():
        cells = [row.get(c) for c in COLUMNS]
        if cells[-1] is not None:
            cells[-1] = f"{cells[-1]:.3f}"
        groups.setdefault(array_of(name), []).append(
            (page.draws.title(name), cells))
    small = [r for rows in groups.values() if len(rows) <= FOLDED for r in rows]
    head = ["name"] + [c.replace("q", "") + "%" if c[0] == "q" else c
                       for c in COLUMNS]
    if small:
        parts.append(table(head, small))
    for array, rows in groups.items():
        if len(rows) <= FOLDED:
            continue
        rhats = [r[1][-1] for r in rows if r[1][-1] is not None]
        worst = f", largest R-hat {max(rhats, key=float)}" if rhats else ""
        parts.append(f"<details><summary>{escape(array)}: {len(rows)} values"
                     f"{worst}</summary>{table(head, rows[:2000])}</details>")
        if len(rows) > 2000:
            parts.append('<p class="note">The first 2000 of them.</p>')
    return "Summary", "".join(parts)


def convergence(page):
    rows = page.parameters.values()
    return "Convergence", figure(
        page.plots.diagnostics(
            page.pictures,
            [r[k] for r in rows for k in ("ess_bulk", "ess_tail")],
            [r["rhat"] for r in rows]),
        "Histograms of the effective sample sizes and of R-hat of all "
        "quantities",
        "Right of the line on the left, left of it on the right: enough "
        "draws, and chains that agree.")


def badness(row):
    ess = min((row[k] for k in ("ess_bulk", "ess_tail")
               if row[k] is not None), default=float("inf"))
    return ess


def choose(page):
    """Scalars and small arrays in the model's order; then what mixes worst."""
    if page.show:
        return [n for n in page.draws.names
                if page.names_of(n) & set(page.show)]
    count = {}
    for name in page.draws.names:
        count[array_of(name)] = count.get(array_of(name), 0) + 1
    first = [n for n in page.draws.names if count[array_of(n)] == 1]
    first = first[:SHOWN * 2 // 3]
    worst = sorted((n for n in page.draws.names if n not in first),
                   key=lambda n: badness(page.parameters[n]))
    return first + worst[:SHOWN - len(first)]


def quantities(page):
    parts = []
    for name in choose(page):
        row, title = page.parameters[name], page.draws.title(name)
        parts.append(f"<h3>{escape(title)}</h3>" + figure(
            page.plots.parameter(page.pictures, page.draws.of(name),
                                 page.draws.integer(name)),
            f"{title}: density, trace and ranks of each chain; mean "
            f"{number(row['mean'])}, sd {number(row['sd'])}, R-hat "
            f"{number(row['rhat'])}"))
    if not parts:
        return None
    note = ('<p class="note">A colour for each chain. Where chains agree the '
            "ranks of each, among the draws of all, are level.</p>")
    left = len(page.draws.names) - len(parts)
    if left > 0:
        note += (f'<p class="note">{left} more have none; --show names which '
                 "have.</p>")
    return "Quantities", note + "".join(parts)


def worst_pairs(page):
    import numpy as np
    moving = [n for n in page.draws.names
              if np.ptp(page.draws.of(n)) > 0
              and np.isfinite(page.draws.of(n)).all()]
    worst, columns = [], []
    for name in sorted(moving, key=lambda n: badness(page.parameters[n])):
        x = page.draws.of(name).ravel()
        same = any(abs(np.corrcoef(x, y)[0, 1]) > 0.9999 for y in columns)
        if len(worst) < PAIRED and not same:
            worst.append(page.draws.title(name))
            columns.append(x)
    if len(worst) < 2:
        return None
    strongest = max(((abs(np.corrcoef(columns[i], columns[j])[0, 1]), i, j)
                     for i in range(len(worst)) for j in range(i)))
    return "Pairs of what mixes worst", figure(
        page.plots.pairs(page.pictures, worst, columns),
        f"Scatter plots of {', '.join(worst)} against each other",
        f"The strongest correlation is {strongest[0]:.2f}, of "
        f"{worst[strongest[2]]} and {worst[strongest[1]]}.")


def statistics(data, replicated):
    """Of the data, and how often replicated data have at least as much."""
    import numpy as np
    rows = []
    for name, of in (("mean", np.mean), ("sd", np.std), ("smallest", np.min),
                     ("largest", np.max),
                     ("share of zeros", lambda x, axis: (x == 0).mean(axis))):
        there = of(data, axis=0)
        if name == "share of zeros" and there == 0:
            continue
        other = of(replicated, axis=1)
        rows.append((name, [float(there), float(np.quantile(other, 0.05)),
                            float(np.quantile(other, 0.95)),
                            float((other > there).mean()
                                  + (other == there).mean() / 2)]))
    return rows


def predictive(page):
    import numpy as np
    parts = []
    for group, what in (("posterior_predictive", "the posterior"),
                        ("prior_predictive", "the prior")):
        for fit in page.files:
            for name, variable in fit.group(group).items():
                observed = page.fit.group("observed_data").get(name)
                if observed is None:
                    continue
                y = observed.values.ravel()
                z = variable.values.reshape(-1, y.size) \
                    if variable.values.size % y.size == 0 else None
                if z is None or y.size == 0:
                    continue
                cells = np.isfinite(y)
                y, z = y[cells], z[:, cells]
                z = z[np.isfinite(z).all(axis=1)]
                if len(y) == 0 or len(z) == 0:
                    continue
                integer = variable.integer and bool((y == np.round(y)).all())
                parts.append(
                    f"<h3>{escape(name)}, from {what}</h3>" + figure(
                        page.plots.predictive(page.pictures, y, z, integer),
                        f"{name}: data beside {len(z)} data sets replicated "
                        f"from {what}")
                    + table(["statistic", "data", "5%", "95%",
                             "P(replicated above)"], statistics(y, z)))
    if not parts:
        return None
    return "Predictive checks", (
        '<p class="note">Data that the model draws, beside those that there '
        "are. A probability near 0 or 1 is of a property of the data that the "
        "model does not have.</p>" + "".join(parts))


def loo(page):
    criteria = page.summary.get("loo")
    if not criteria:
        return None
    rows = [("elpd_loo", [criteria["elpd"], criteria["se"]]),
            ("p_loo", [criteria["p"], criteria["p_se"]])]
    waic = page.summary.get("waic")
    if waic:
        rows.append(("elpd_waic", [waic["elpd"], waic["se"]]))
    each = criteria["observations"]
    k = [o["pareto_k"] if o["pareto_k"] is not None else float("nan")
         for o in each.values()]
    limit = criteria["good_k"]
    high = [n for n, o in each.items()
            if o["pareto_k"] is None or o["pareto_k"] > limit]
    text = table(["", "estimate", "se"], rows) + figure(
        page.plots.pareto(page.pictures, k, limit),
        f"Pareto k of {len(k)} observations; {len(high)} are above {limit:.2f}",
        f"Observations above the line ({limit:.2f}) have more influence than "
        "the estimate allows.")
    if high:
        names = ", ".join(high[:20]) + (", ..." if len(high) > 20 else "")
        text += (f'<p class="alarm">Pareto k is above {limit:.2f} for '
                 f"{len(high)} of {len(k)} observations: {escape(names)}.</p>")
    return "Leaving one out", text


def calibration(page):
    if not page.sbc:
        return None
    sbc = page.sbc
    good = sbc["calibrated"]
    rows = [(n, [q["bins_p"], q["ecdf_p"], q["location_z"], q["spread_z"],
                 "" if q["calibrated"] else "FAIL"])
            for n, q in sbc["quantities"].items()]
    text = (f'<p class="{"good" if good else "alarm"}">'
            f'{sbc["replicates"]} data sets from the prior: '
            f'{"calibrated" if good else "NOT calibrated"}.</p>'
            + table(["name", "bins, p", "ecdf, p", "location", "spread", ""],
                    rows))
    worst = sorted(sbc["quantities"].items(),
                   key=lambda q: min(q[1]["bins_p"], q[1]["ecdf_p"]))
    for name, q in worst[:6]:
        text += f"<h3>{escape(name)}</h3>" + figure(
            page.plots.calibration(page.pictures, q["ranks"], sbc),
            f"{name}: histogram and distribution function of the ranks of "
            f"{sbc['replicates']} true values among draws of their posteriors")
    return "Simulation-based calibration", text


def model(page):
    from fit import Failure, draw_graph, run
    if not page.model:
        return "Model", ('<p class="note">--model FILE adds the model, its '
                         "graph and how it is sampled.</p>")
    gbmc = os.path.join(os.path.dirname(page.gbm), "gbmc")
    with open(page.model, encoding="utf-8", errors="replace") as file:
        text = f"<pre>{escape(file.read())}</pre>"
    try:
        svg, dot = draw_graph(gbmc, page.model)
        if svg:
            text += figure('<div class="graph">'
                           + page.plots.clean(svg, "graph-") + "</div>",
                           "Graph of the model with its plates")
        else:
            text += ("<details><summary>Graph, for Graphviz</summary><pre>"
                     f"{escape(dot)}</pre></details>")
        text += ("<h3>How it is sampled</h3><pre>"
                 f"{escape(run([gbmc, '--explain', page.model], 'explain'))}"
                 "</pre>")
    except Failure as problem:
        text += f'<p class="alarm">{escape(problem)}</p>'
    return "Model", text


def profile(page):
    from fit import Failure
    if not page.profile:
        return None
    with open(page.profile, encoding="utf-8", errors="replace") as file:
        said = file.read()
    begin = re.search(r"^Where the time goes", said, re.M)
    if not begin:  # the file may have all that the run printed
        raise Failure(f"{page.profile} is not what run --profile printed")
    return "Time of each step", f"<pre>{escape(said[begin.start():])}</pre>"


SECTIONS = [overview, summary_table, convergence, quantities, worst_pairs,
            predictive, loo, calibration, model, profile]


class Page:
    """What the sections need."""

    def __init__(self, options, gbm):
        import plots
        from fit import Draws, Failure, Fit, summarise
        self.gbm, self.plots, self.pictures = gbm, plots, plots.Pictures()
        self.model, self.profile = options.model, options.profile
        for name in filter(None, (options.model, options.profile)):
            if not os.access(name, os.R_OK):
                raise Failure(f"cannot read {name}")
        self.show = re.findall(r"[^\s,\[]+(?:\[[^\]]*\])?", options.show or "")
        self.fit = Fit(options.fit)
        if not self.fit.group("posterior"):
            raise Failure(f"{options.fit} has no posterior: the page is of a "
                          "run's draws")
        self.files = [self.fit] + [Fit(f) for f in options.predictive]
        self.summary, self.said = summarise(gbm, options.fit)
        self.parameters = self.summary["parameters"]
        self.draws = Draws(self.fit, self.parameters)
        known = set().union(*map(self.names_of, self.draws.names))
        for name in self.show:
            if name not in known:
                raise Failure(f"--show {name}: there is nothing of this name "
                              f"in {options.fit}")
        self.sbc = None
        if options.sbc:
            try:
                with open(options.sbc, encoding="utf-8") as file:
                    self.sbc = json.load(file)
                self.sbc["quantities"], self.sbc["band"]
            except (OSError, ValueError, KeyError, TypeError) as problem:
                raise Failure(f"{options.sbc} is not what sbc --out writes: "
                              f"{problem!r}") from None

    def names_of(self, name):
        """By which --show may mean it: theta[1], theta[Choate], theta."""
        return {name, self.draws.title(name), array_of(name)}

    def write(self):
        with open(os.path.join(os.path.dirname(__file__), "page.css"),
                  encoding="utf-8") as file:
            style = file.read()
        parts = [p for p in (section(self) for section in SECTIONS) if p]
        title = self.fit.run.get("model_name", "a fit")
        links = "".join(f'<a href="#s{i}">{escape(head)}</a> '
                        for i, (head, _) in enumerate(parts))
        body = "".join(
            f'<section id="s{i}"><h2>{escape(head)}</h2>{text}</section>\n'
            for i, (head, text) in enumerate(parts))
        made = self.fit.run.get("created_at", "")
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width">'
                f"<title>{escape(title)}</title><style>{style}</style></head>\n"
                f"<body><h1>{escape(title)}</h1>"
                f'<p class="note">{escape(self.fit.path)} {escape(made)}</p>'
                f"<nav>{links}</nav>\n{body}</body></html>\n")


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="gbm report", description="One page of a fit, in HTML, whole in "
        "itself.")
    parser.add_argument("fit", metavar="FIT.nc", help="draws, of run --out")
    parser.add_argument("-o", "--out", metavar="FILE",
                        help="the page (FIT.html)")
    parser.add_argument("--model", metavar="FILE",
                        help="the model: its text, its graph, how it is "
                        "sampled")
    parser.add_argument("--predictive", metavar="FILE.nc", action="append",
                        default=[], help="data of simulate, or of simulate "
                        "--posterior; repeated")
    parser.add_argument("--sbc", metavar="FILE.json", help="of sbc --out")
    parser.add_argument("--profile", metavar="FILE",
                        help="what run --profile printed")
    parser.add_argument("--show", metavar="LIST",
                        help="quantities that have pictures: theta,mu[3]")
    parser.error = mistake
    return parser.parse_args(argv)


def mistake(message):
    print(f"error: {message}; see gbm report --help", file=sys.stderr)
    sys.exit(1)


def main(argv):
    gbm, *argv = argv
    options = parse(argv)
    try:
        import matplotlib  # noqa: F401
        import netCDF4  # noqa: F401
    except ImportError as missing:
        print(NEEDS.format(missing, sys.executable), file=sys.stderr)
        return 1
    from fit import Failure
    out = options.out or re.sub(r"\.nc$", "", options.fit) + ".html"
    try:
        text = Page(options, gbm).write()
    except Failure as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    temporary = f"{out}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, out)
    except OSError as problem:
        print(f"failed: cannot write {out}: {problem.strerror}",
              file=sys.stderr)
        if os.path.exists(temporary):
            os.remove(temporary)
        return 2
    print(f"note: the report is {out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
