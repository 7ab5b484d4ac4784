"""Stubs of what scripts want and a sandbox lacks. One file each, found by being here.

A module here may have `install(report)`, called before the script starts, and `PROVIDES`, the
names of packages for which `module(name)` makes a stub when the script imports one that is
not installed; with `WHERE_NEEDED` only if the script cannot do without. Packages that no module
here knows get one whose calls do nothing (`null_object.py`).
`report(name, detail, kind)` says that the stub was really used.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from typing import Any

from .finding import Finder, Report, when_imported

__all__ = ["Finder", "Report", "install", "when_imported"]


def install(report: Report) -> None:
    """Install every stub of this package."""
    makers: dict[str, Any] = {}
    for found in load():
        if hasattr(found, "install"):
            found.install(report)
        for name in getattr(found, "PROVIDES", ()):
            makers[name] = found
    preferred = {n: m for n, m in makers.items() if "." in n and not _installed(m.NEEDS)}
    sys.meta_path.insert(0, Finder(preferred, report))
    others = {n: m for n, m in makers.items() if "." not in n}
    unknown = importlib.import_module(f"{__name__}.null_object")
    sys.meta_path.append(Finder(others, report, unknown))


def load() -> list[Any]:
    """Import every module of this package; a warm parent calls this before it forks runs."""
    names = (info.name for info in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
