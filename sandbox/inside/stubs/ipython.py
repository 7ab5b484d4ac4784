"""The environment of notebooks: `display`, `get_ipython`, and their packages."""

from __future__ import annotations

import builtins
from types import ModuleType
from typing import Any

from . import Report
from .null_object import NullModule, NullObject
from .synthesized import asked_by_user

PROVIDES = ("IPython", "ipywidgets")


def install(report: Report) -> None:
    """Give scripts the two functions that IPython has everywhere."""

    def get_ipython() -> NullObject:
        if asked_by_user():  # and not a package that looks whether it runs in a notebook
            report("IPython", "magics do nothing")
        return NullObject()

    def shown(*objects: Any, **options: Any) -> None:
        report("IPython", "objects are shown as text")
        display(*objects)

    vars(builtins).update(display=shown, get_ipython=get_ipython)


def display(*objects: Any, **options: Any) -> None:
    """Show the objects as text."""
    print(*map(repr, objects), sep="\n")


def module(name: str) -> ModuleType:
    """Return `IPython`, `IPython.display`, …"""
    return NullModule(name, display=display, get_ipython=NullObject)
