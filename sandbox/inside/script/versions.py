"""The versions of the packages that a script has imported, by the modules' own word."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice, takewhile
from types import ModuleType

MOST = 64
LONGEST = 64  # characters of a name or a version

_prepared: dict[str, str] = {}
_seen: list[str] = []  # the last module that the warm parent imported


def machine() -> str:
    """Return the system and its architecture; `platform.platform` would start a process."""
    system = os.uname()
    return f"{system.sysname} {system.machine}"


def prepare() -> None:
    """Read the versions once, in a warm parent, for all the runs that it forks."""
    _prepared.update(_stated(list(sys.modules.items())))
    _seen.append(next(reversed(sys.modules)))


def imported() -> dict[str, str]:
    """Return `{module: version}` of top-level modules that state one; those of a script's own
    making are read without calling anything of theirs.

    Modules are kept in the order of their import; those that the warm parent has read are not
    looked at: that would copy the memory pages that the run shares with it.
    """
    last = _seen[-1] if _seen else None
    new = takewhile(lambda module: module[0] is not last, reversed(sys.modules.items()))
    return dict(islice(chain(_prepared.items(), _stated(list(new)[::-1])), MOST))


def _stated(modules: Iterable[tuple[object, object]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the version of each top-level module that states one."""
    for name, module in modules:
        if type(name) is str and type(module) is ModuleType and "." not in name:
            version = vars(module).get("__version__")
            if type(version) is str and len(name) <= LONGEST and len(version) <= LONGEST:
                yield name, version
