"""The versions of the packages that a script has imported, by the modules' own word."""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import ModuleType

MOST = 64
LONGEST = 64  # characters of a name or a version


def machine() -> str:
    """Return the system and its architecture; `platform.platform` would start a process."""
    system = os.uname()
    return f"{system.sysname} {system.machine}"


def imported() -> dict[str, str]:
    """Return `{module: version}` of top-level modules that state one; those of a script's own
    making are read without calling anything of theirs."""
    stated = (
        (name, vars(module).get("__version__"))
        for name, module in list(sys.modules.items())
        if type(name) is str and type(module) is ModuleType and "." not in name
    )
    plain = (
        (name, version)
        for name, version in stated
        if type(version) is str and len(name) <= LONGEST and len(version) <= LONGEST
    )
    return dict(islice(plain, MOST))
