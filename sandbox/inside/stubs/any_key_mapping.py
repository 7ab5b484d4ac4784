"""Settings in files that were not sent: a mapping that has whatever it is asked for."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from .arguments import value_for
from .asked_settings import SettingUse, use_of
from .asking import taken_apart_for
from .configs import AttributeDict

_NAMING = re.compile(
    r"name|type|mode|kind|model|arch|dataset|split|optim|sched|activation|loss|backbone|task|env"
    r"|method|norm|backend|precision|host|url|user|project|entity|tag|text|prompt|message|format"
    r"|key|group|title|device|policy|target|column|manifest|id$"
)
_COUNTING = re.compile(r"(?:n|nb|num|number|max|min)_")


class AnyKeyMapping(AttributeDict):
    """A mapping that has every key it is asked for, with a value that fits the key's name; what the
    project takes apart itself is such a mapping, too. A call that it is taken apart for gets the
    arguments that it cannot do without."""

    _within = ""

    @classmethod
    def of(cls, key: str) -> AnyKeyMapping:
        """Return the mapping under this key of another one."""
        made = cls()
        object.__setattr__(made, "_within", key)  # no entry
        return made

    def __missing__(self, key: Any) -> Any:
        name = str(key)
        use = use_of(name, self._within)
        made = (
            AnyKeyMapping.of(name)
            if use is SettingUse.PARTED
            else value_for(name, _kind_of(name, use))
        )
        self[key] = made
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value for an optional key too, except for a state that a line only asks for."""
        if default is not None or key in dict.keys(self):
            return super().get(key, default)
        resumed = re.fullmatch(r"(?:.*_)?resume(?:_.*)?", str(key))
        return None if resumed else self[key]

    def __contains__(self, key: Any) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:  # one of its own, or `**` would not ask for `keys`
        return super().__iter__()

    def keys(self) -> Any:
        called = taken_apart_for(sys._getframe(1))
        for name in _needed_by(called) if called is not None else ():
            self[name]
        return super().keys()


def _needed_by(called: Any) -> list[str]:
    """Return the required arguments of a call."""
    try:
        arguments = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        one.name
        for one in arguments
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]


def _kind_of(name: str, use: SettingUse) -> Any:
    """Return the type of a setting: a whole number, another number, or a string, by its name.

    If the name does not say, it is a whole number, which passes for others, too.
    """
    number = value_for(name, float)
    if use is not SettingUse.COMPUTED:
        if value_for(name, str) != name or use is SettingUse.READ:
            return str
        if number == 0.5 and _NAMING.search(name.lower()) and not _COUNTING.match(name):
            return str
    if number == 0.5:  # nothing in the name says
        return int
    return int if float(number).is_integer() else float
