"""What a report is made of: groups of netCDF files as ArviZ has them, and what
gbm itself says of them."""
import itertools
import json
import os
import subprocess
import tempfile

import netCDF4
import numpy as np


class Failure(Exception):
    """A mistake of the user's, in words."""


class Variable:
    """Values, with `chain` and `draw` in front if they have them, and a name
    for each element."""

    def __init__(self, group, name):
        variable = group.variables[name]
        self.name = name
        self.dims = variable.dimensions
        self.values = np.ma.filled(variable[...].astype(float), np.nan) \
            if variable.dtype != str else None
        self.integer = variable.dtype != str and variable.dtype.kind in "iu"
        self.labels = [labels_of(group, d) for d in self.dims
                       if d not in ("chain", "draw")]
        self.words = [d in group.variables and group.variables[d].dtype == str
                      for d in self.dims if d not in ("chain", "draw")]

    def title(self, name, index):
        """The name with labels where the file has them: theta[Choate]."""
        if not any(self.words):
            return name
        numbers = name[len(self.name) + 1:-1].split(",")
        return f"{self.name}[" + ",".join(
            kinds[-1][i] if words else number for kinds, words, number, i
            in zip(self.labels, self.words, numbers, index)) + "]"

    def elements(self, known=()):
        """{name: index}, names as gbm prints them: theta[1,2]. Of an array of
        which the file has a part, labels of its dimensions tell which; those
        names are taken that are known."""
        shape = [s for s, d in zip(self.values.shape, self.dims)
                 if d not in ("chain", "draw")]
        if not shape:
            return {self.name: ()}
        places = list(itertools.product(*map(range, shape)))
        found = [
            {f"{self.name}[{','.join(kind[d][i] for d, i in enumerate(at))}]":
             at for at in places} for kind in zip(*self.labels)]
        return max(found, key=lambda names: len(names.keys() & known))


def labels_of(group, dimension):
    """What the elements along a dimension may be called: by their place, by
    whole numbers that count from 0, or as the file says."""
    length = len(group.dimensions[dimension])
    places = [str(i + 1) for i in range(length)]
    variable = group.variables.get(dimension)
    if variable is None:
        return places, places, places
    values = variable[...].tolist()
    plain = [str(v) for v in values]
    return (places, [str(v + 1) for v in values], plain) \
        if variable.dtype != str and variable.dtype.kind in "iu" \
        else (places, plain, plain)


class Fit:
    """A file: its groups of variables, and what is said of the run."""

    def __init__(self, path):
        try:
            with netCDF4.Dataset(path) as file:
                self.groups = {
                    name: {v: Variable(group, v) for v in group.variables
                           if v not in group.dimensions}
                    for name, group in file.groups.items()}
                posterior = file.groups.get("posterior")
                self.run = {} if posterior is None else {
                    a: posterior.getncattr(a) for a in posterior.ncattrs()}
        except (OSError, RuntimeError) as problem:
            why = getattr(problem, "strerror", None) or problem
            raise Failure(f"cannot read {path}: {why}") from None
        self.path = path

    def group(self, name):
        return self.groups.get(name, {})


def run(command, what):
    """What a program prints; a Failure if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
    except OSError as problem:
        raise Failure(f"{what}: cannot run {command[0]}: {problem}") from None
    if done.returncode:
        raise Failure(f"{what}: {done.stderr.strip()}")
    return done.stdout


def summarise(gbm, path):
    """gbm's own summary of a file: as JSON and as it prints it."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "summary.json")
        text = run([gbm, "summary", path, "--summary", name], "summary")
        with open(name, encoding="utf-8") as file:
            return json.load(file), text


def draw_graph(gbmc, model):
    """The model's graph as SVG, and without Graphviz as its text."""
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "graph.svg")
        try:
            run([gbmc, f"--dag={picture}", model], "graph")
            with open(picture, encoding="utf-8") as file:
                return file.read(), None
        except Failure as no_picture:
            text = os.path.join(folder, "graph.dot")
            try:
                run([gbmc, f"--dag={text}", model], "graph")
            except Failure:
                raise no_picture from None
            with open(text, encoding="utf-8") as file:
                return None, file.read()


class Draws:
    """The posterior's draws by the names of the summary, and what to call
    them."""

    def __init__(self, fit, names):
        self.places, self.titles = {}, {}
        for variable in fit.group("posterior").values():
            for name, index in variable.elements(names.keys()).items():
                self.places[name] = variable, index
                self.titles[name] = variable.title(name, index)
        self.names = [n for n in names if n in self.places]

    def of(self, name):
        """[chain][draw]"""
        variable, index = self.places[name]
        return variable.values[(slice(None), slice(None), *index)]

    def title(self, name):
        return self.titles.get(name, name)

    def integer(self, name):
        return self.places[name][0].integer
