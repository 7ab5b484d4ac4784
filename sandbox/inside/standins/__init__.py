"""Substitutes for what scripts want and a sandbox lacks. One file each, found by being here.

A module here may have `install(report)`, called before the script starts, and `PROVIDES`, the
names of packages for which `module(name)` makes a substitute when the script imports one that is
not installed. `report(name, detail)` says that the substitute was really used.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

Report = Callable[[str, str], None]


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes substitutes for missing packages; nothing is made before it is asked for."""

    def __init__(self, makers: dict[str, Any], report: Report) -> None:
        self._makers = makers
        self._report = report

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for a name that a stand-in provides."""
        if self._maker(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The substitute; importing it is using it."""
        found = self._maker(spec.name)
        if found is None:
            raise ModuleNotFoundError(spec.name)
        maker, provided = found
        self._report(provided, "not installed here: calls do nothing or give small samples")
        made: ModuleType = maker.module(spec.name)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs: the module is complete."""

    def _maker(self, fullname: str) -> tuple[Any, str] | None:
        for name, maker in self._makers.items():
            if fullname == name or fullname.startswith(name + "."):
                return maker, name
        return None


def install(report: Report) -> None:
    """Install every stand-in of this package."""
    makers: dict[str, Any] = {}
    for info in pkgutil.iter_modules(__path__):
        found = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(found, "install"):
            found.install(report)
        for name in getattr(found, "PROVIDES", ()):
            makers[name] = found
    preferred = {n: m for n, m in makers.items() if "." in n and not _installed(m.NEEDS)}
    sys.meta_path.insert(0, Finder(preferred, report))
    sys.meta_path.append(Finder({n: m for n, m in makers.items() if "." not in n}, report))


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
