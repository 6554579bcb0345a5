"""A model: its text, its sampler, its draws."""
from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import programs
from .data import Coords, Dims, Prepared, prepare, read_values
from .errors import CompileError, DataError, GbmError, IncompleteWarning, RunError
from .result import choose_format, read_plain, read_xarray

Names = Union[None, str, Sequence[str]]


class Text(str):
    """Text that shows itself as it is."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Check:
    """What `Model.check` found: whether every full conditional agrees with the
    joint density, and the table."""

    passed: bool
    text: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Calibration:
    """What `Model.sbc` found: whether all quantities are calibrated, the rank of
    the truth among the draws in each replicate, and the table."""

    calibrated: bool
    ranks: Dict[str, np.ndarray]
    text: str
    results: Dict[str, Any]  # all that is known, as `gbm sbc --out` has it

    def __bool__(self) -> bool:
        return self.calibrated

    def __repr__(self) -> str:
        return self.text

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes a file for `Model.report`."""
        Path(path).write_text(json.dumps(self.results))


@dataclass(frozen=True)
class Graph:
    """A model's graph with its plates; a notebook shows it."""

    dot: str
    svg: Optional[str]  # None: Graphviz is not installed

    def _repr_svg_(self) -> Optional[str]:
        return self.svg

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes FILE.svg or FILE.dot."""
        path = Path(path)
        if path.suffix not in (".svg", ".dot"):
            raise ValueError(f"{path}: .svg or .dot is wanted")
        text = self.svg if path.suffix == ".svg" else self.dot
        if text is None:
            raise GbmError("an SVG needs Graphviz (the program dot)")
        path.write_text(text)


@dataclass(frozen=True)
class Mode:
    """A mode of the posterior density."""

    values: Dict[str, np.ndarray]
    text: str

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]

    def __repr__(self) -> str:
        return self.text


def _is_text(model: str) -> bool:
    return "\n" in model or "{" in model


def _list(names: Names) -> Optional[str]:
    return names if names is None or isinstance(names, str) else ",".join(names)


class Model:
    """A model in the BUGS language, or as gbm extends it.

    `model` is a text, or the path of a file (.gbm, .bug, .bugs, .jags, .txt).
    Its syntax is checked at once; it is compiled when data are there, and
    gbmc's cache knows it the next time. `compiler_options` go to gbmc.

    >>> import gbm
    >>> m = gbm.Model('''
    ... model {
    ...   for (i in 1:N) { y[i] ~ dnorm(mu, 1) }
    ...   mu ~ dnorm(0, 0.001)
    ... }''')
    >>> fit = m.sample({"N": 3, "y": [1.0, 2.0, 3.0]}, progress=False,
    ...                format="plain")
    >>> fit["mu"].shape, bool(abs(fit["mu"].mean() - 2) < 0.1)
    ((4, 1000), True)
    >>> gbm.Model("model { y ~ dnorm(mu, }")
    Traceback (most recent call last):
    ...
    gbm.errors.CompileError: model.gbm:1:23: error: expected an expression before '}'
        1 | model { y ~ dnorm(mu, }
          |                       ^
    model.gbm:1:18: note: this '(' is still open
        1 | model { y ~ dnorm(mu, }
          |                  ^
    """

    def __init__(
        self,
        model: Union[str, os.PathLike],
        *,
        compiler_options: Sequence[str] = (),
    ):
        self._folder = tempfile.mkdtemp(prefix="gbm.")
        self._finalizer = weakref.finalize(
            self, shutil.rmtree, self._folder, ignore_errors=True
        )
        self._options = list(compiler_options)
        if isinstance(model, str) and _is_text(model):
            self.path = Path(self._folder) / "model.gbm"
            self.path.write_text(model)
            self._argument = "model.gbm"
        else:
            self.path = Path(model).resolve()
            self._argument = str(self.path)
            if not self.path.exists():
                raise FileNotFoundError(f"no model in {os.fspath(model)}")
        self._runs = 0
        self._compile(["--emit=ast"])

    @property
    def text(self) -> str:
        """The model's text."""
        return self.path.read_text()

    def __repr__(self) -> str:
        return f"<gbm.Model {self.path.name}>"

    # ---- gbmc

    def _compile(
        self,
        words: Sequence[str],
        data: Sequence[str] = (),
    ) -> programs.Ended:
        command = [programs.compiler(), *self._options, *words]
        for file in data:
            command += ["--data", file]
        ended = programs.run([*command, "--", self._argument], cwd=self._folder)
        if ended.interrupted:
            raise KeyboardInterrupt
        if ended.status != 0:
            text = self._said(ended)
            of_data = any(self._short(file) in text for file in data)
            raise DataError(text) if of_data else CompileError(text)
        return ended

    def _short(self, text: str) -> str:
        """Files of this object by their names alone."""
        return re.sub(re.escape(self._folder) + r"/(run\d+/)?", "", text)

    def _said(self, ended: programs.Ended) -> str:
        return self._short(ended.messages.strip())

    def _new_folder(self) -> Path:
        self._runs += 1
        folder = Path(self._folder) / f"run{self._runs}"
        folder.mkdir()
        return folder

    def explain(self, data: Any = None) -> Text:
        """How each variable is sampled, and why."""
        folder = self._new_folder()
        files = prepare(data, folder).files if data is not None else []
        return Text(self._compile(["--explain"], files).output)

    def dag(self, data: Any = None) -> Graph:
        """The graph with its plates."""
        folder = self._new_folder()
        files = prepare(data, folder).files if data is not None else []
        self._compile([f"--dag={folder / 'dag.dot'}"], files)
        svg = None
        if shutil.which("dot"):
            self._compile([f"--dag={folder / 'dag.svg'}"], files)
            svg = (folder / "dag.svg").read_text()
        return Graph((folder / "dag.dot").read_text(), svg)

    # ---- the sampler

    def _run(
        self,
        command: str,
        data: Prepared,
        folder: Path,
        words: Sequence[str],
        progress: bool,
        known: bool = True,
    ) -> programs.Ended:
        """Compiles and runs, for the data if these are `known` and not drawn
        anew; what is not a result is raised."""
        sampler = str(folder / "sampler")
        files = data.files if known else []
        notes = self._compile(["-o", sampler], files).messages
        if progress and notes.strip():
            print(notes.strip(), file=sys.stderr)
        line = [sampler, command]
        for file in data.files:
            line += ["--data", file]
        line += words
        if not progress:
            line += ["--progress", "none"]
        elif programs.shows_bar():
            line += ["--progress", "bar"]
        ended = programs.run(line, cwd=str(folder), shown=progress)
        os.unlink(sampler)
        return ended

    def _failure(self, ended: programs.Ended) -> GbmError:
        text = self._said(ended) or f"ended with status {ended.status}"
        lines = text.splitlines()
        told = [x for x in lines if x.startswith(("error:", "failed:"))]
        text = "\n".join(lines[lines.index(told[0]) :]) if told else text
        if ended.status < 0:
            text += f" (ended by signal {-ended.status})"
        return RunError(text, ended.status)

    def _draws(
        self,
        command: str,
        group: str,
        data: Any,
        words: List[str],
        *,
        dims: Optional[Dims],
        coords: Optional[Coords],
        progress: bool,
        format: str,
        save: Union[None, str, os.PathLike],
        init: Any = None,
    ) -> Any:
        wanted = choose_format(format)
        folder = self._new_folder()
        prepared = prepare(data, folder, "data", dims, coords)
        for number, values in enumerate(_inits(init)):
            files = prepare(values, folder, f"init{number}").files
            if len(files) != 1 or "=" in files[0].split("/")[-1]:
                raise DataError("init: arrays of 20,000 elements at most")
            words += ["--init", files[0]]
        fit, summary = folder / "fit.nc", folder / "summary.json"
        simulated = command == "simulate"
        if not simulated:
            words += ["--summary", str(summary)]
        ended = self._run(
            command, prepared, folder, [*words, "--out", str(fit)], progress
        )
        if not fit.exists():
            if ended.interrupted:
                raise KeyboardInterrupt
            raise self._failure(ended)
        if ended.status != 0:
            warnings.warn(
                str(self._failure(ended)), IncompleteWarning, stacklevel=3
            )
        if save is not None:
            shutil.copyfile(fit, save)
        if wanted == "plain":
            told = None if simulated else summary
            result = self._plain(fit, told, group, prepared)
        else:
            result = read_xarray(fit, prepared.labels, wanted)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def _plain(
        self,
        fit: Path,
        summary: Optional[Path],
        group: str,
        data: Prepared,
    ) -> Any:
        """Through CODA's text, which NumPy alone can read."""
        stem = fit.parent / "coda"
        tool = Path(programs.compiler()).with_name("gbm")
        ended = programs.run(
            [str(tool), "summary", str(fit), "--quiet", "--format", "coda"]
            + ["--digits", "17", "--out", str(stem)]
        )
        if ended.status != 0:
            raise self._failure(ended)
        return read_plain(stem, summary, group, data)

    def sample(
        self,
        data: Any = None,
        *,
        chains: int = 4,
        warmup: int = 1000,
        draws: int = 1000,
        thin: int = 1,
        seed: int = 1,
        monitor: Names = None,
        init: Any = None,
        method: Optional[str] = None,
        until: Optional[str] = None,
        log_lik: bool = False,
        device: str = "auto",
        threads: Optional[int] = None,
        dims: Optional[Dims] = None,
        coords: Optional[Coords] = None,
        progress: bool = True,
        format: str = "auto",
        save: Union[None, str, os.PathLike] = None,
        options: Sequence[str] = (),
    ) -> Any:
        """Draws from the posterior.

        Args:
            data: a dict, a DataFrame (a vector each column), or a Dataset of
                xarray's; values are numbers, lists, arrays of NumPy, Series,
                DataFrames, DataArrays. None, NaN and NA are missing values,
                which are drawn. Text and categories become codes 1, 2, ....
            chains, warmup, draws, thin, seed: the same seed gives the same
                draws.
            monitor: names of what is kept (default: all that is small).
            init: starting values of any part, a dict; or one a chain.
            method: how to run, as the sampler's --method.
            until: go on until it holds, "ess>400,rhat<1.01,rhat_eigen<1.05".
            log_lik: keep pointwise log likelihoods, for LOO and WAIC.
            dims: names of variables' dimensions, {"theta": ["school"]}.
            coords: labels along dimensions, {"school": ["A", "B"]}.
            progress: show it on standard error.
            format: inferencedata, datatree, plain, or what is installed.
            save: also write the netCDF file there.
            options: more of the sampler's options, as on its command line.

        Returns:
            ArviZ's InferenceData (before version 1) or a DataTree; where these
            are not installed, a `gbm.Draws` of arrays.

        Ctrl-C ends the run; the draws so far come back, with a warning.
        """
        words = _options(
            chains=chains,
            warmup=warmup,
            draws=draws,
            thin=thin,
            seed=seed,
            monitor=_list(monitor),
            method=method,
            until=until,
            device=device,
            threads=threads,
        )
        words += ["--log-lik"] if log_lik else []
        return self._draws(
            "run",
            "posterior",
            data,
            [*words, *options],
            dims=dims,
            coords=coords,
            progress=progress,
            format=format,
            save=save,
            init=init,
        )

    def simulate(
        self,
        data: Any = None,
        *,
        posterior: bool = False,
        fit: Union[None, str, os.PathLike] = None,
        anew: Sequence[str] = (),
        chains: int = 4,
        warmup: int = 1000,
        draws: int = 1000,
        seed: int = 1,
        dims: Optional[Dims] = None,
        coords: Optional[Coords] = None,
        format: str = "auto",
        save: Union[None, str, os.PathLike] = None,
        options: Sequence[str] = (),
    ) -> Any:
        """Draws parameters and data from the prior (groups prior and
        prior_predictive), or data anew given the posterior
        (posterior_predictive). With `fit`, the netCDF file of an earlier run:
        what it has no draws of, given each of its draws, as outcomes of new
        rows; `anew` names variables whose draws are of its own rows only."""
        words = _options(seed=seed)
        if fit is None:
            words += _options(chains=chains, warmup=warmup, draws=draws)
        else:
            words += ["--from", os.fspath(Path(fit).absolute())]
            words += ["--anew", ",".join(anew)] if anew else []
        words += ["--posterior"] if posterior else []
        return self._draws(
            "simulate",
            "posterior_predictive" if posterior or fit else "prior",
            data,
            [*words, *options],
            dims=dims,
            coords=coords,
            progress=False,
            format=format,
            save=save,
        )

    def optimize(
        self,
        data: Any = None,
        *,
        jacobian: bool = False,
        em: bool = False,
        seed: int = 1,
        init: Any = None,
        options: Sequence[str] = (),
    ) -> Mode:
        """The mode of the posterior density from several starts; with `em`,
        discrete nodes are summed out. With `jacobian`, of the density of free
        numbers, as log(tau)."""
        folder = self._new_folder()
        prepared = prepare(data, folder)
        words = _options(method="em" if em else "optimize", seed=seed)
        words += ["--jacobian"] if jacobian else []
        for number, values in enumerate(_inits(init)):
            words += ["--init", prepare(values, folder, f"init{number}").files[0]]
        mode = folder / "mode.json"
        ended = self._run(
            "run", prepared, folder, [*words, *options, "--out", str(mode)], False
        )
        if ended.interrupted:
            raise KeyboardInterrupt
        if ended.status != 0 or not mode.exists():
            raise self._failure(ended)
        return Mode(read_values(mode), ended.output)

    def check(self, data: Any = None, *, options: Sequence[str] = ()) -> Check:
        """Compares every full conditional with the joint density."""
        folder = self._new_folder()
        ended = self._run("check", prepare(data, folder), folder, options, False)
        if ended.status != 0 and not ended.output.strip():
            raise self._failure(ended)
        return Check(ended.status == 0, ended.output)

    def sbc(
        self,
        data: Any = None,
        *,
        replicates: int = 500,
        draws: int = 99,
        seed: int = 1,
        options: Sequence[str] = (),
    ) -> Calibration:
        """Simulation-based calibration (Talts et al. 2018): where the truth is
        among draws from the posterior of data that are drawn from the prior."""
        folder = self._new_folder()
        words = _options(replicates=replicates, draws=draws, seed=seed)
        file = folder / "sbc.json"
        ended = self._run(
            "sbc",
            prepare(data, folder),
            folder,
            [*words, *options, "--out", str(file)],
            False,
            known=False,
        )
        if ended.interrupted:
            raise KeyboardInterrupt
        if not file.exists():
            raise self._failure(ended)
        results = json.loads(file.read_text())
        ranks = {
            name: np.array(q["ranks"])
            for name, q in results["quantities"].items()
        }
        return Calibration(results["calibrated"], ranks, ended.output, results)

    def report(
        self,
        fit: Union[str, os.PathLike],
        page: Union[str, os.PathLike],
        *,
        predictive: Sequence[Union[str, os.PathLike]] = (),
        sbc: Union[None, str, os.PathLike] = None,
    ) -> Path:
        """Writes a page in HTML of the draws that `sample(save=fit)` kept, with
        those that `simulate(save=...)` kept and a `Calibration.save`. It needs
        matplotlib and netCDF4."""
        tool = Path(programs.compiler()).with_name("gbm")
        python = os.environ.get("GBM_PYTHON") or sys.executable
        words = ["env", f"GBM_PYTHON={python}", str(tool), "report"]
        words += [os.path.abspath(fit), "-o", os.path.abspath(page)]
        words += ["--model", str(self.path)]
        for file in predictive:
            words += ["--predictive", os.path.abspath(file)]
        if sbc is not None:
            words += ["--sbc", os.path.abspath(sbc)]
        ended = programs.run(words, cwd=self._folder)
        if ended.interrupted:
            raise KeyboardInterrupt
        if ended.status != 0:
            raise self._failure(ended)
        return Path(page)


def _inits(init: Any) -> List[Any]:
    if init is None:
        return []
    return list(init) if isinstance(init, (list, tuple)) else [init]


def _options(**values: Any) -> List[str]:
    """
    >>> _options(chains=2, method=None, device="cpu")
    ['--chains', '2', '--device', 'cpu']
    """
    words: List[str] = []
    for name, value in values.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return words
