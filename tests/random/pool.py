"""What the pool of a Builder holds, and what loops run over."""

from dataclasses import dataclass


@dataclass
class Thing:
    """`dims` are the extents of an array; the last is inside the value where
    kind is vector, simplex; the last two where it is a matrix."""
    name: str
    kind: str  # real positive probability category count vector simplex matrix
    dims: tuple = ()
    top: int = 0  # categories: how many; counts: none


@dataclass
class Index:
    """A loop variable and its range."""
    name: str
    low: int
    high: int
