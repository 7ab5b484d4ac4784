"""Variables of the environment that a script cannot do without, and that are not set here."""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import Any

from .arguments import setting_for
from .finding import Report, does_without


def install(report: Report) -> None:
    """Hook `os.environ["NAME"]`, if the script ends without the variable."""
    environ: Any = type(os.environ)
    look = environ.__getitem__

    @wraps(look)
    def looked(self: Any, key: str) -> Any:
        try:
            return look(self, key)
        except KeyError:
            if does_without(sys._getframe(1)):
                raise
            value = setting_for(key)
            report(
                f"os.environ[{key!r}]",
                f"`{key}` is not set here: the value `{value}` was used.",
                "argument",
            )
            return value

    environ.__getitem__ = looked
