"""The console command: words that need nothing but this package, and those of `app.cli`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn

from gradmend import parts

# Subcommands: each name's function takes the arguments after it.
OWN = {
    "run": "gradmend.run_wrapper.main:run",
    "apply": "gradmend.run_wrapper.apply:apply",
    "show": "gradmend.run_wrapper.apply:show",
    "explain": "gradmend.run_wrapper.apply:explain",
}
NEEDS = {"serve": "server", "worker": "server", "mcp": "mcp", "lsp": "lsp"}
"""The extra of `pyproject.toml` that each of these words needs."""

BROKEN_PIPE = 128 + signal.SIGPIPE
"""The exit code of what a closed pipe ends, as shells give it."""


def main(arguments: list[str] | None = None) -> None:
    """Do what the first word asks for; leaves with its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    parts.join()
    if not words or words[0] not in NEEDS:
        gc.set_threshold(20_000, 20, 100)  # most of a short command's time is imports, which stay
    try:
        _do(words)
    except BrokenPipeError:
        sys.exit(BROKEN_PIPE)
    except KeyboardInterrupt:
        interrupted()
    finally:
        _flush()


def interrupted() -> NoReturn:
    """Say that Ctrl-C has ended the command, and leave as shells expect."""
    print("Interrupted.", file=sys.stderr)
    raise SystemExit(128 + signal.SIGINT)


def _do(words: list[str]) -> None:
    if words and words[0] in OWN:
        module, _, function = OWN[words[0]].partition(":")
        run: Callable[[list[str]], int] = getattr(import_module(module), function)
        sys.exit(run(words[1:]))
    try:
        cli: Callable[[], None] = import_module("app.cli").main
        cli()
    except ModuleNotFoundError as error:
        sys.exit(_lacking(words[0] if words else "", error))


def _flush() -> None:
    """Write what is buffered; a reader that has gone away (`| head`) gets no more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lacking(word: str, error: ModuleNotFoundError) -> str:
    """Return what to install for a word whose packages are not there."""
    from gradmend.installing import pip_install

    return (
        f"gradmend {word} needs the package {error.name!r}, which is not installed here: "
        f"{pip_install(NEEDS.get(word, ''))}"
    )
