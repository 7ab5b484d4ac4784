"""What was asked for on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Run = Literal["auto", "never"]
Form = Literal["text", "json", "markdown", "sarif", "github"]
STANDARD_INPUT = Path("-")

# Exit codes. The last two are those of sysexits.h: they say nothing about the scripts.
HEALTHY, FOUND, COULD_NOT_TELL, USAGE, INTERNAL = 0, 1, 2, 64, 70


def worst(codes: Iterable[int], *, lenient: bool) -> int:
    """Return the exit code of several files: a fault found, before wrong usage, before could not
    tell, which is no finding where `lenient`."""
    ranked = (FOUND, USAGE) if lenient else (FOUND, USAGE, COULD_NOT_TELL)
    among = set(codes)
    return next((code for code in ranked if code in among), HEALTHY)


class BadInput(ValueError):
    """What was asked for cannot be done; the message says what to give instead. The command exits
    with `code`."""

    code = USAGE


class UnreadableError(BadInput):
    """A file's content cannot be read: whether it holds a fault is unknown."""

    code = COULD_NOT_TELL


class NoAnswerError(BadInput):
    """A server does not answer: what it would find is unknown."""

    code = COULD_NOT_TELL


@dataclass(frozen=True, slots=True)
class Switches:
    """How a caller asks for unsafe fixes, and for fix `{n}` although it was not tested."""

    unsafe: str
    untested: str


FLAGS = Switches("--unsafe-fixes", "--fix={n} --unsafe-fixes")
ARGUMENTS = Switches("unsafe=true", "n={n} with unsafe=true")  # of the agents' tool
WORDS = Switches("--unsafe-fixes", "--unsafe-fixes {n}")  # of `gradmend apply`


@dataclass(frozen=True, slots=True)
class Options:
    """`fix` is the number of the fix to write, 0 for none; with `diff` it is only shown.

    `chosen`: the number was given, not assumed. `unsafe`: fixes that are not known to keep the
    training may be written, too; `switches`: how they are asked for. `lenient`: could not tell
    counts as no finding. `ignore`: ids and names of patterns that are not reported. `exclude`: what
    a folder is searched without. `stdin_filename`: what standard input is called. `server`: address
    of a running service that diagnoses in place of this process. `torch`: an interpreter with
    another torch, or the name of a version.
    """

    paths: tuple[Path, ...]
    traceback: Path | None = None
    files: tuple[Path, ...] = ()
    args: tuple[str, ...] = ()
    module: str | None = None
    run: Run = "auto"
    time_limit_s: float = 20
    form: Form = "text"
    fix: int = 0
    chosen: bool = False
    unsafe: bool = False
    switches: Switches = FLAGS
    diff: bool = False
    lenient: bool = False
    verbose: bool = False
    quiet: bool = False
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    stdin_filename: str = "-"
    server: str = ""
    torch: str = ""
