"""The script itself: found, put on the path and run as Python would run it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.frames import Json
from . import set_order
from .spans import in_order

read_as: Callable[[bytes, str], Any] = lambda source, path: source  # noqa: E731 (exchanged)
arguments: Callable[[list[str]], list[str]] = list  # (exchanged, too)


def run_as_main(job: Json) -> None:
    """Run the job's entry as `python entry argv…` would, or as `python -m module argv…`; with
    `spans`, those lines of it in that order."""
    entry = str(job.get("entry") or "train.py")
    name, spans = job.get("module"), job.get("spans", [])
    path = os.path.abspath(entry)
    source = read_as(Path(path).read_bytes(), path)
    if spans:
        code = in_order(source, path, spans)
    elif job.get("other_set_order"):
        code = set_order.compiled(source, path)
    else:
        code = compile(source, path, "exec", dont_inherit=True)
    main = ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    if job.get("other_set_order"):
        main.__dict__[set_order.NAME] = set_order.in_another_order
    sys.modules["__main__"] = main
    sys.path[0:0] = _paths(path, name, alone=bool(job.get("launcher")))
    sys.argv = arguments([path if name else entry, *job.get("argv", [])])
    if name and (package := _package_of(name, path)):
        main.__package__ = package
        importlib.import_module(package)
    exec(code, main.__dict__)


def _package_of(module: str, path: str) -> str:
    """Return the package that the module's relative imports start from."""
    return module if os.path.basename(path) == "__main__.py" else module.rpartition(".")[0]


def folders(path: str) -> list[str]:
    """Return the folders in which a script finds the modules of its project."""
    return _paths(path, None, alone=False)


def _paths(path: str, module: str | None, *, alone: bool) -> list[str]:
    """Return the folders of the project's modules, in Python's own order.

    First comes the script's own folder, or the project's root for a module. After that, as for a
    project that is installed or started from its root: all folders from the script's up to the
    root, and `src` in them.
    """
    folder, root = Path(path).parent, Path.cwd()
    if alone:
        return [str(folder)]
    folders = [folder]
    if folder.is_relative_to(root):
        folders += [above for above in folder.parents if above.is_relative_to(root)]
    folders += [inner for above in folders if (inner := above / "src").is_dir()]
    first = [root] if module else [folder]
    return list(dict.fromkeys(map(str, first + folders)))
