"""What goes wrong, told as gbmc and the samplers tell it."""
from __future__ import annotations

import re
from typing import NamedTuple


class GbmError(Exception):
    """Any failure of gbm's; its text is what the program said."""


class NotFoundError(GbmError):
    """The executables are not where they are looked for."""


class DataError(GbmError, ValueError):
    """Data that cannot be handed to a sampler, or that it refuses."""


class Diagnostic(NamedTuple):
    """One error in a model's text."""

    file: str
    line: int
    column: int
    message: str


_PLACE = re.compile(r"^(.+?):(\d+):(\d+): error: (.*)$", re.MULTILINE)


class CompileError(GbmError):
    """gbmc refuses a model. The text has file, line and column of each error,
    with the line and a caret under it; `errors` has them as tuples.

    >>> e = CompileError("m.gbm:1:13: error: unknown name\\n 1 | ...")
    >>> e.errors[0].line, e.errors[0].column, e.errors[0].message
    (1, 13, 'unknown name')
    """

    def __init__(self, text: str):
        super().__init__(text)
        self.errors = [
            Diagnostic(file, int(line), int(column), message)
            for file, line, column, message in _PLACE.findall(text)
        ]


class RunError(GbmError):
    """A sampler ended without a result; `status` is its exit status: 1 for a
    mistake in options or data, 2 for a failure on the way."""

    def __init__(self, text: str, status: int):
        super().__init__(text)
        self.status = status


class IncompleteWarning(UserWarning):
    """A run that ended early, of which the draws so far were kept."""
