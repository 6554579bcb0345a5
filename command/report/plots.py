"""Pictures as SVG that stands in a page: lines and letters have the colour of
the text around them, so that dark pages show them, too."""
import io
import re

import matplotlib

matplotlib.use("svg")
from matplotlib import mlab, pyplot  # noqa: E402
import numpy as np  # noqa: E402

INK = "#010203"  # becomes the page's own colour
CHAINS = ["#3f80d5", "#e08a2c", "#2f9f70", "#bb5aa0", "#8d77d8", "#c0504d",
          "#6a9aa6", "#9a9a3c"]
ACCENT = "#e0562c"
MOST = 400  # points of a line
pyplot.rcParams.update({
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
    "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "text.color": INK, "axes.edgecolor": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 9, "figure.constrained_layout.use": True})


def colour(chain):
    return CHAINS[chain % len(CHAINS)]


class Pictures:
    """Draws one after the other; their inner names differ in one page."""

    def __init__(self):
        self.count = 0

    def finish(self, figure):
        self.count += 1
        pyplot.rcParams["svg.hashsalt"] = f"gbm {self.count}"
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
        pyplot.close(figure)
        return clean(out.getvalue(), f"p{self.count}-")


def clean(svg, prefix):
    """Without what is for files of their own: names of standards, which look
    like addresses, and a title."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s(xmlns(:\w+)?|version)="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href").replace(INK, "currentColor")
    svg = re.sub(r'\sd="[^"]*"', round_path, svg)  # halves the page
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = svg.replace("url(#", f"url(#{prefix}")
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


def round_path(match):
    return re.sub(r"(\d+\.\d)\d+", r"\1", match.group())


def thin(x):
    """Every k-th of what would be more points than one sees; where they are."""
    step = max(1, -(-len(x) // MOST))
    return np.arange(0, len(x), step), x[::step]


def density(axes, x, integer, **style):
    """Of numbers; nothing for what does not vary."""
    x = x[np.isfinite(x)]
    if x.size < 2 or np.ptp(x) == 0:
        return
    values = np.unique(x)
    if integer and len(values) <= 60:
        share = [(x == v).mean() for v in values]
        axes.plot(values, share, marker="o", markersize=3, **style)
        return
    low, high = np.quantile(x, [0.001, 0.999])
    grid = np.linspace(low, high, 160)
    axes.plot(grid, mlab.GaussianKDE(x[:: max(1, x.size // 2000)])(grid),
              **style)


def parameter(pictures, x, integer):
    """Density, trace and ranks of a quantity, a colour for each chain."""
    figure, (left, middle, right) = pyplot.subplots(
        1, 3, figsize=(9, 1.9), width_ratios=[1, 1.6, 1])
    order = np.argsort(np.argsort(x, axis=None, kind="stable"),
                       kind="stable").reshape(x.shape)
    bins = np.linspace(0, x.size, 21)
    for c, chain in enumerate(x):
        density(left, chain, integer, color=colour(c), linewidth=1.2)
        at, line = thin(chain)
        middle.plot(at + 1, line, color=colour(c), linewidth=0.5)
        counts, _ = np.histogram(order[c], bins)
        right.stairs(counts, bins, baseline=None, color=colour(c), linewidth=1.1)
    right.axhline(x.shape[1] / 20, color=INK, linewidth=0.6, linestyle=":")
    left.set(title="density", yticks=[])
    middle.set(title="trace", xlabel="draw")
    right.set(title="ranks", yticks=[], xticks=[])
    right.set_ylim(bottom=0)
    return pictures.finish(figure)


def pairs(pictures, names, columns):
    """Each of the columns against each other: [quantity][draws]."""
    n = len(names)
    figure, grid = pyplot.subplots(n, n, figsize=(1.9 * n, 1.7 * n),
                                   squeeze=False)
    step = max(1, columns[0].size // 400)
    for i, row in enumerate(grid):
        for j, axes in enumerate(row):
            if j > i:
                axes.axis("off")
                continue
            if i == j:
                density(axes, columns[i], False, color=CHAINS[0])
                axes.set_yticks([])
            else:
                axes.plot(columns[j][::step], columns[i][::step], ".",
                          color=CHAINS[0], markersize=1.5, alpha=0.6)
            if i == n - 1:
                axes.set_xlabel(names[j])
            if j == 0 and i > 0:
                axes.set_ylabel(names[i])
    return pictures.finish(figure)


def diagnostics(pictures, ess, rhat):
    """Histograms over all quantities."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 2.1))
    for axes, x, limit, title in (
            (left, ess, 400, "effective sample size (bulk and tail)"),
            (right, rhat, 1.01, "R-hat")):
        x = np.array([v for v in x if v is not None and np.isfinite(v)])
        if x.size:
            axes.hist(x, bins=min(30, max(5, x.size)), color=CHAINS[0])
        axes.axvline(limit, color=ACCENT, linewidth=1)
        axes.set(title=title, ylabel="quantities")
    return pictures.finish(figure)


def predictive(pictures, data, replicated, integer):
    """Replicated data, [replicate][cell], beside the data: how often each value
    of counts came, or the distribution functions."""
    figure, axes = pyplot.subplots(figsize=(6, 2.6))
    values = np.unique(np.concatenate([data, replicated.ravel()]))
    values = values[np.isfinite(values)]
    if integer and len(values) <= 40:
        counts = np.array([[(row == v).sum() for v in values]
                           for row in replicated])
        low, middle, high = np.quantile(counts, [0.05, 0.5, 0.95], axis=0)
        axes.vlines(values, low, high, color=CHAINS[0], linewidth=4, alpha=0.6,
                    label="replicated, 90%")
        axes.plot(values, middle, "_", color=CHAINS[0])
        axes.plot(values, [(data == v).sum() for v in values], "o",
                  color=ACCENT, markersize=4, label="data")
        axes.set(xlabel="value", ylabel="how often")
    else:
        some = replicated[:: max(1, len(replicated) // 40)]
        for i, row in enumerate(some):
            row = row[np.isfinite(row)]
            step(axes, row, color=CHAINS[0], linewidth=0.5, alpha=0.5,
                 label=None if i else "replicated")
        step(axes, data, color=ACCENT, linewidth=1.6, label="data")
        axes.set(xlabel="value", ylabel="share at most")
        if np.isfinite(replicated).any():
            low, high = np.nanquantile(replicated, [0.005, 0.995])
            axes.set_xlim(min(low, data.min()), max(high, data.max()))
    axes.legend(frameon=False)
    return pictures.finish(figure)


def step(axes, x, **style):
    x = np.sort(x)
    some, x = thin(x)
    if x.size:
        axes.plot(x, (some + 1) / (some[-1] + 1), drawstyle="steps-post",
                  **style)


def pareto(pictures, k, limit):
    figure, axes = pyplot.subplots(figsize=(6, 2.2))
    axes.plot(np.arange(1, len(k) + 1), k, ".", color=CHAINS[0])
    axes.axhline(limit, color=ACCENT, linewidth=1)
    axes.set(xlabel="observation", ylabel="Pareto k")
    return pictures.finish(figure)


def calibration(pictures, ranks, sbc):
    """Distribution function of ranks, less the uniform one, with the limits
    that right ones keep to in 95 of 100 cases."""
    n, values = len(ranks), sbc["draws"] + 1
    band = sbc["band"]
    share = np.array(band["below"]) / values
    counts = np.array([sum(r < b for r in ranks) for b in band["below"]])
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 1.9))
    left.hist(ranks, bins=np.linspace(-0.5, values - 0.5, 21), color=CHAINS[0])
    left.axhline(n / 20, color=INK, linewidth=0.6, linestyle=":")
    left.set(title="ranks", xlabel="rank", yticks=[])
    right.fill_between(share, np.array(band["low"]) / n - share,
                       np.array(band["high"]) / n - share, color=CHAINS[0],
                       alpha=0.25, linewidth=0)
    right.plot(share, counts / n - share, color=CHAINS[0], linewidth=1.2)
    right.axhline(0, color=INK, linewidth=0.6, linestyle=":")
    right.set(title="distribution function less the uniform one",
              xlabel="share of ranks")
    return pictures.finish(figure)
