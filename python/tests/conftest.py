"""What tests share: quick runs on the CPU, compiled without optimising."""
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gbm

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent / "workflows"))
QUICK = {"progress": False, "device": "cpu"}


def compiled(model):
    """A model whose sampler is compiled quickly."""
    return gbm.Model(model, compiler_options=["-O1"])


def example(name):
    """A model of examples/, with its data."""
    folder = ROOT / "examples" / name
    return (
        compiled(folder / f"{name}.gbm"),
        json.loads((folder / "data.json").read_text()),
    )


@pytest.fixture
def line():
    """A regression line with a missing value, and its data."""
    model = compiled(
        """
        model {
          for (i in 1:N) {
            mu[i] <- alpha + beta * x[i]
            y[i] ~ dnorm(mu[i], tau)
          }
          alpha ~ dnorm(0, 1.0E-4)
          beta ~ dnorm(0, 1.0E-4)
          tau ~ dgamma(2, 0.1)
        }"""
    )
    x = np.arange(8.0) - 3.5
    y = np.array([3.1, 4.9, 7.2, 9.1, np.nan, 12.8, 15.2, 16.9])
    return model, {"N": 8, "x": x, "y": y}
