"""What a script wanted and could not have, and what its author can do about it."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from typing import Any

from ..core.emitter import Emitter
from ..core.frames import Json

_NETWORK = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.EPERM}
_OWN_RUN = "start the script with `gradmend run -- python`"


def watch_arguments(emitter: Emitter) -> None:
    """Tell what argparse misses before it ends the script."""
    parser: Any = argparse.ArgumentParser
    refuse = parser.error

    def error(self: argparse.ArgumentParser, message: str) -> Any:
        needed = message.rpartition(": ")[2] if "required" in message else message
        detail = f"{message}: give the script's arguments, or defaults to its parser"
        emitter.emit(_needs("argument", needed, detail))
        return refuse(self, message)

    parser.error = error


def of(error: BaseException) -> Json | None:
    """Return the `needs` record for an exception that ended a script, or None."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _package(error.name)
    if isinstance(error, FileNotFoundError) and error.filename:
        name = os.fspath(error.filename)
        name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
        return _needs("file", os.path.relpath(name), "attach the file, or a small sample of it")
    if isinstance(error, EOFError):
        return _needs("input", "input()", "the run has no standard input: set the value instead")
    if isinstance(error, OSError) and (_is_network(error) or _is_network(error.__context__)):
        return _needs("network", "a network", f"the run has none ({error}): attach the data")
    if isinstance(error, RuntimeError | AssertionError) and "CUDA" in str(error):
        return _needs("device", "cuda", f"the run has no GPU: {_OWN_RUN} on a machine that has one")
    return None


def _package(name: str) -> Json:
    """Return a record of a missing module: a part of the project if it has a folder of that
    name."""
    top = name.partition(".")[0]
    if any(os.path.isdir(os.path.join(place, top)) for place in (".", *sys.path[:1])):
        path = name.replace(".", "/")
        return _needs("package", name, f"attach {path}.py, which is a part of the project")
    detail = f"not installed here: attach it if it is yours; else {_OWN_RUN} where it is installed"
    return _needs("package", top, detail)


def _is_network(error: BaseException | None) -> bool:
    """Return True if a connection or a look-up of a host failed."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    if {"gaierror", "URLError", "ConnectionError"} & set(kinds):
        return True
    return isinstance(error, OSError) and error.errno in _NETWORK and not error.filename


def _needs(kind: str, name: str, detail: str) -> Json:
    return {"t": "needs", "kind": kind, "name": name, "detail": detail}
