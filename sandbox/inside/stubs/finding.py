"""Imports that find nothing: whose they are, and whether the script can do without."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any, Protocol

from ..core.frames import INNER, LIBRARY, USER, owner
from ..core.tries import ANY, leaves, survives, syntax_of

_UNIMPORTED = frozenset({"ImportError", "ModuleNotFoundError"} | ANY)
_UNSET = frozenset({"KeyError", "LookupError"} | ANY)


class Report(Protocol):
    """Says that a substitute was used."""

    def __call__(self, name: str, detail: str, kind: str = "package") -> None: ...


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes substitutes for missing packages; nothing is made before it is asked for.

    `unknown` makes those that no other maker provides.
    """

    def __init__(self, makers: dict[str, Any], report: Report, unknown: Any = None) -> None:
        self._makers = makers
        self._report = report
        self._unknown = unknown

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for a name that a stub provides, if the script cannot do without it."""
        if self._maker(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the stub; importing it counts as using it."""
        found = self._maker(spec.name)
        if found is None:
            raise ModuleNotFoundError(spec.name, name=spec.name)
        maker, provided = found
        detail = getattr(
            maker, "SAYS", "not installed here: calls do nothing or give small samples"
        )
        self._report(provided, detail, getattr(maker, "KIND", "package"))
        made: ModuleType = maker.module(spec.name)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""

    def _maker(self, fullname: str) -> tuple[Any, str] | None:
        top = fullname.partition(".")[0]
        if top not in sys.modules and _for_a_library():
            return None  # an installed package copes without, and asks by trying
        for name, maker in self._makers.items():
            if fullname == name or fullname.startswith(name + "."):
                if getattr(maker, "WHERE_NEEDED", False) and top not in sys.modules:
                    return (maker, name) if _is_needed(top) else None
                part_of_real = fullname != name and "." not in name and _is_there(name)
                return None if part_of_real else (maker, name)
        if self._unknown is None or not _may_be_unknown(top):
            return None
        return self._unknown, top


def _for_a_library() -> bool:
    """Return True if an installed package asks for the module, not the script."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        "importlib" in (name := frame.f_code.co_filename) or name == __file__
    ):
        frame = frame.f_back
    return frame is not None and owner(frame.f_code) == LIBRARY


def _may_be_unknown(top: str) -> bool:
    """Return True if an unknown package may get a stub.

    The script itself imports it unconditionally, and no part of it was sent.
    """
    if top in sys.stdlib_module_names or top.startswith("_") or _is_there(top):
        return False
    frame = _importing()
    return frame is not None and owner(frame.f_code) == USER and not _is_optional(frame)


def _is_needed(top: str) -> bool:
    """Return True if a known package gets a stub only where the script needs it.

    Its own import says so, or the rest of a pasted fragment.
    """
    frame = _importing()
    synthesized = frame is not None and owner(frame.f_code) == INNER
    return synthesized or _may_be_unknown(top)


def _is_there(top: str) -> bool:
    """Return True if a package of this name is installed, or a part of the project."""
    loaded = sys.modules.get(top)
    if loaded is not None:
        spec = getattr(loaded, "__spec__", None)
        return not isinstance(getattr(spec, "loader", None), Finder)
    return any(os.path.exists(os.path.join(place, top)) for place in sys.path)


def _importing() -> FrameType | None:
    """Return the frame that imports a module; None if it only asks whether there is one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.endswith(("importlib.util>", os.path.join("importlib", "util.py"))):
            return None
        if "importlib" not in name and name != __file__:
            return frame
        frame = frame.f_back
    return None


def _is_optional(frame: FrameType) -> bool:
    """Return True if the line is in a `try` that goes on without the module."""
    return survives(frame.f_code.co_filename, frame.f_lineno, _UNIMPORTED)


def does_without(frame: FrameType) -> bool:
    """Return True if a script that reads a key on this line goes on without it."""
    return owner(frame.f_code) != USER or survives(frame.f_code.co_filename, frame.f_lineno, _UNSET)


def insists(frame: FrameType) -> bool:
    """Return True if a script that tests something on this line ends when the answer is no."""
    if owner(frame.f_code) != USER:
        return False
    lines = _insisting(frame.f_code.co_filename)
    return any(first <= frame.f_lineno <= last for first, last in lines)


@lru_cache(maxsize=256)
def _insisting(filename: str) -> list[tuple[int, int]]:
    """Return first and last lines of assertions, and of conditions whose body ends the script."""
    found = []
    for node in ast.walk(syntax_of(filename)):
        leaving = isinstance(node, ast.If) and any(
            leaves(n) for s in node.body for n in ast.walk(s)
        )
        if isinstance(node, ast.Assert) or leaving:
            test = node.test  # type: ignore[attr-defined]
            found.append((test.lineno, test.end_lineno or test.lineno))
    return found


class _Later(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Does something to a module as soon as it is imported."""

    def __init__(self, name: str, change: Callable[[Any], None]) -> None:
        self._name = name
        self._change = change
        self._loader: Any = None
        self._asking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        sys.meta_path.remove(self)  # not before: who only asks for the spec imports nothing
        self._loader.exec_module(module)
        self._change(sys.modules.get(self._name, module))  # some put another in their place


def when_imported(name: str, change: Callable[[Any], None]) -> None:
    """Change a module once it is there: now, or when somebody imports it."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Later(name, change))
