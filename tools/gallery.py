"""Pictures of the examples for `tools/site`: of each a short run, and of what it
drew the densities of single quantities and the intervals of arrays, in one file
of SVG. Needs matplotlib and netCDF4, and gbm that is built."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GBM = os.path.join(ROOT, os.environ.get("GBM_BUILD", "build"), "gbm")
SECONDS = 120       # for a run; one that takes longer has no picture
SINGLE, ARRAYS = 4, 2  # quantities with a density, arrays with intervals
MOST = 60           # elements of an array in a picture
RUN = ["--warmup", "500", "--draws", "500", "--seed", "1", "--monitor", "all",
       "--moments", "none", "--quiet", "-O", "1"]
sys.path.insert(0, os.path.join(ROOT, "command/report"))


def missing():
    """What is not there of what pictures need; None if all is."""
    try:
        import plots  # noqa: F401  (it imports matplotlib)
        import fit    # noqa: F401  (it imports netCDF4)
    except ImportError as error:
        return f"{sys.executable} has no {error.name}"
    return None if os.access(GBM, os.X_OK) else f"{GBM} is not built"


def choose(posterior):
    """Names of the group's variables by how they are drawn: single quantities,
    and arrays, of which vectors that vary come first."""
    single, arrays = [], []
    for name, variable in posterior.items():
        if variable.values is None or name in ("lp", "deviance"):
            continue
        elements = variable.values.shape[2:]
        (arrays if elements else single).append(name)
    arrays.sort(key=lambda n: posterior[n].values.ndim > 3)
    return single[:SINGLE], arrays[:ARRAYS if single else ARRAYS + 1]


def intervals(axes, variable):
    """Median and 90 % of each element, in the order of the file."""
    import numpy as np
    import plots
    values = variable.values
    values = values.reshape(values.shape[0] * values.shape[1], -1)
    step = max(1, -(-values.shape[1] // MOST))
    low, middle, high = np.quantile(values[:, ::step], [0.05, 0.5, 0.95], axis=0)
    at = np.arange(values.shape[1])[::step] + 1
    axes.vlines(at, low, high, color=plots.CHAINS[0], linewidth=1.5)
    axes.plot(at, middle, ".", color=plots.ACCENT, markersize=4,
              gid=f"medians-{variable.name}")
    shape = ", ".join(map(str, variable.values.shape[2:]))
    every = f", one in {step}" if step > 1 else ""
    axes.set_title(f"{variable.name}[{shape}]: median and 90 %{every}")
    axes.xaxis.get_major_locator().set_params(integer=True)


def draw(posterior, path):
    """The picture of a run's draws: densities in a row, arrays below it."""
    import plots
    single, arrays = choose(posterior)
    rows = bool(single) + len(arrays)
    figure = plots.pyplot.figure(figsize=(8, 1.9 * rows))
    grid = figure.add_gridspec(rows, max(1, len(single)))
    for k, name in enumerate(single):
        axes = figure.add_subplot(grid[0, k])
        for c, chain in enumerate(posterior[name].values):
            plots.density(axes, chain, posterior[name].integer,
                          color=plots.colour(c), linewidth=1.2)
        axes.set(title=name, yticks=[])
        axes.locator_params(axis="x", nbins=3)
        axes.ticklabel_format(axis="x", scilimits=(-3, 5))
    for k, name in enumerate(arrays):
        intervals(figure.add_subplot(grid[bool(single) + k, :]), posterior[name])
    plots.pyplot.rcParams["svg.hashsalt"] = "gbm"
    figure.savefig(path, format="svg", metadata={"Date": None})
    plots.pyplot.close(figure)


def picture(name, path):
    """Runs an example and draws what it found into the file `path`; else a text
    that says why not."""
    import fit
    folder = os.path.join(ROOT, "examples", name)
    model = os.path.join(folder, f"{name}.gbm")
    data = os.path.join(folder, "data.json")
    if not os.path.exists(model) or not os.path.exists(data):
        return "it has no data"
    start = os.path.join(folder, "init.json")
    init = ["--init", start] if os.path.exists(start) else []
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "fit.nc")
        try:
            done = subprocess.run([GBM, "run", model, data, *init, *RUN,
                                   "--out", out], capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"it takes more than {SECONDS} s"
        if done.returncode:
            return done.stderr.strip()
        draw(fit.Fit(out).group("posterior"), path)
    return None
