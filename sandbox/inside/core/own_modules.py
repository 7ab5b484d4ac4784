"""The tracer's loaded modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

PACKAGE = __name__.rsplit(".", 2)[0]


def own_modules() -> dict[str, ModuleType]:
    """Return the tracer's modules by name, found through its packages.

    Iterating over `sys.modules` would change the reference counts of thousands of modules, and so
    copy the memory pages that a run shares with its warm parent.
    """
    return dict(_below(PACKAGE))


def _below(package: str) -> Iterator[tuple[str, ModuleType]]:
    for attribute in list(vars(sys.modules[package])):
        name = f"{package}.{attribute}"
        if name in sys.modules:
            yield name, sys.modules[name]
            if hasattr(sys.modules[name], "__path__"):
                yield from _below(name)
