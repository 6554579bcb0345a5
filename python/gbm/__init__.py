"""Bayesian models as in BUGS or JAGS, compiled into fast samplers.

>>> import gbm
>>> model = gbm.Model("model { p ~ dbeta(1, 1)  x ~ dbin(p, n) }")
>>> mode = model.optimize({"x": 7, "n": 10})
>>> round(float(mode["p"]), 3)
0.7
"""
from .errors import (
    CompileError,
    DataError,
    Diagnostic,
    GbmError,
    IncompleteWarning,
    NotFoundError,
    RunError,
)
from .model import Calibration, Check, Graph, Mode, Model, Text
from .result import Draws

__version__ = "0.1"

__all__ = [
    "Calibration",
    "Check",
    "CompileError",
    "DataError",
    "Diagnostic",
    "Draws",
    "GbmError",
    "Graph",
    "IncompleteWarning",
    "Mode",
    "Model",
    "NotFoundError",
    "RunError",
    "Text",
]
