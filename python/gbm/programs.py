"""The executables: where they are, and running them."""
from __future__ import annotations

import codecs
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence

from .errors import NotFoundError


def compiler() -> str:
    """The path of gbmc: in $GBM_HOME (an installed prefix, or a build folder),
    in this package, beside it in a source tree, in $PATH.
    """
    here = Path(__file__).resolve().parent
    given = os.environ.get("GBM_HOME")
    if given:
        places = [Path(given) / "bin", Path(given) / "build", Path(given)]
    else:
        places = [here / "home" / "bin", here.parents[1] / "build"]
    for place in places:
        if os.access(place / "gbmc", os.X_OK) and (place / "gbmc").is_file():
            return str(place / "gbmc")
    if given:
        raise NotFoundError(
            f"GBM_HOME is {given}, and gbmc is neither there nor in its bin "
            "or build folder"
        )
    found = shutil.which("gbmc")
    if not found:
        raise NotFoundError(
            "gbmc is not found: build gbm (./setup && ninja), and set "
            "GBM_HOME to its folder or add its build folder to PATH"
        )
    return found


class Ended(NamedTuple):
    """How a program ended."""

    status: int
    output: str  # standard output
    messages: str  # standard error, without progress
    interrupted: bool


def shows_bar() -> bool:
    """Whether progress may be written over: in a terminal or a notebook."""
    out = sys.stderr
    return bool(
        getattr(out, "isatty", lambda: False)()
        or type(out).__module__.startswith("ipykernel")
    )


def _without_bars(text: str) -> str:
    """Only what stays: of a line that was written over, its last state.

    >>> _without_bars("10 of 20\\r20 of 20\\033[K\\nnote: x\\n")
    '20 of 20\\nnote: x\\n'
    """
    lines = text.replace("\033[K", "").split("\n")
    return "\n".join(line.rstrip("\r").split("\r")[-1] for line in lines)


class _Listener:
    """Takes what a program says on standard error; shows it, if asked."""

    def __init__(self, pipe: int, shown: bool):
        self.pipe, self.shown = pipe, shown
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.said: List[str] = []

    def listen(self) -> None:
        """Until the program ends; may be interrupted, and called again."""
        while True:
            piece = os.read(self.pipe, 65536)
            text = self.decoder.decode(piece, not piece)
            self.said.append(text)
            if self.shown and text:
                sys.stderr.write(text)
                sys.stderr.flush()
            if not piece:
                return


def run(
    words: Sequence[str],
    *,
    cwd: Optional[str] = None,
    shown: bool = False,
) -> Ended:
    """Runs a program until it ends. Ctrl-C asks it to end, and what it had is
    kept; a second one kills it and raises KeyboardInterrupt. The program is in
    a session of its own, so that it gets an interrupt once."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            list(words),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stderr is not None
        listener = _Listener(process.stderr.fileno(), shown)
        interrupted = False
        try:
            while True:
                try:
                    listener.listen()
                    status = process.wait()
                    break
                except KeyboardInterrupt:
                    if interrupted:
                        raise
                    interrupted = True
                    process.send_signal(signal.SIGINT)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            process.stderr.close()
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    messages = _without_bars("".join(listener.said))
    return Ended(status, output, messages, interrupted)
