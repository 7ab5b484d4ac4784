"""Hooks on installed packages that answer where a resource is missing.

A script may want a table, a model's weights or an environment that was not sent. Each module here
hooks the door through which one package gets such a resource. The real thing is tried first; only
where it is missing the hook answers, in the form that the script asks for, and reports what it
synthesized. One file a kind of resource, found by being here; `install()` registers its hooks.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def install() -> None:
    """Register every hook; a package that is imported later is hooked when it is imported."""
    for module in load():
        module.install()


def load() -> list[Any]:
    """Return every module of this package; a warm parent calls this before it forks runs."""
    names = (info.name for info in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]
