"""Functions that a script hands to a package which is not there, and which would have called them.

A decorator of such a package gives the function back: called without arguments, it gets its
defaults, the given options, and values that are filled in. If the last thing that a script does is
to call the package, what was handed to it runs.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType, FunctionType
from typing import Any

from ..core.frames import USER, owner
from .any_key_mapping import AnyKeyMapping
from .arguments import filled_in, value_for
from .asked_settings import names_settings
from .asking import ends_with, is_loaded
from .configs import read_value
from .finding import Report
from .named_settings import settings_in
from .null_object import NullObject, nothing

_MAIN = ("train", "main", "run")
_REQUIRED: Any = inspect.Parameter.empty
_report: Report | None = None
_entries: dict[Any, HandedFunction] = {}  # by what the decorator gave back


@dataclass
class HandedFunction:
    """A function of the script's that a package was given; `members` are commands of a group."""

    function: FunctionType
    package: str
    options: dict[str, NullObject] = field(default_factory=dict)
    settings: Any = None  # those in the file that a decorator names
    members: list[Any] = field(default_factory=list)
    ran: bool = False


def install(report: Report) -> None:
    """Remember whom to tell what is filled in."""
    global _report
    _report = report


def given() -> Iterator[tuple[str, Any]]:
    """Yield the options among the arguments: `--name value`, `--name=value`, `--flag`."""
    words = sys.argv[1:]
    for at, word in enumerate(words):
        if word.startswith("-") and not word.lstrip("-")[:1].isdigit():
            name, equals, value = word.lstrip("-").partition("=")
            following = words[at + 1 : at + 2]
            bare = not following or following[0].startswith("--")
            text = value if equals else "true" if bare else following[0]
            yield name.replace("-", "_"), read_value(text)


def filled(name: str, kind: Any = None) -> Any:
    """Return a value for what is required and not given."""
    value = value_for(name, kind if kind in (int, float, bool, str) else None)
    _say(f"--{name}", filled_in(f"--{name}", value))
    return value


def called(function: Any) -> Any:
    """Call a function with what was given, its defaults, and what is filled in."""
    entry = _entries.get(function) if isinstance(function, FunctionType) else None
    options, values = dict(given()), {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in options:
            values[name] = options[name]
        elif parameter.default is _REQUIRED or isinstance(parameter.default, NullObject):
            values[name] = _value(name, parameter, entry)
    return (entry.function if entry is not None else function)(**values)


def _value(name: str, parameter: inspect.Parameter, entry: HandedFunction | None) -> Any:
    """Return a value for a parameter, as its default or a decorator of the function says it."""
    option = entry.options.get(name) if entry is not None else None
    asked = _asked(parameter.default if option is None else option)
    default = _default(asked, first=option is None)
    if default is not _REQUIRED:
        return default
    kind = asked["type"] if "type" in asked else _type_of(parameter.annotation)
    if isinstance(kind, NullObject):  # a choice
        return next(iter(_asked(kind).get("", [()])[0]), None)
    is_free = option is None and parameter.default is _REQUIRED
    if is_free and (names_settings(name) or _is_null(kind)):
        if entry is not None and entry.settings is not None:
            return entry.settings
        _say(name, f"`{name}` is not read here: synthesized settings are used.")
        return AnyKeyMapping()
    if is_free and entry is not None and entry.options:  # an object of the package
        return nothing(entry.package)
    return filled(name, kind)


def _asked(option: Any) -> Mapping[str, Any]:
    """Return the keywords that an option was made with, and its other arguments under `""`."""
    return option._asked if isinstance(option, NullObject) else {}


def _default(asked: Mapping[str, Any], *, first: bool) -> Any:
    """Return the default that an option has; `first`: its first argument may be that."""
    said = asked.get("", ())[:1] if first else ()
    default = asked.get("default", False if asked.get("is_flag") else next(iter(said), _REQUIRED))
    return _REQUIRED if default is ... else default


def _names(option: NullObject) -> list[str]:
    """Return what an option's values are called in the function: `--batch-size` `batch_size`."""
    said = [one for one in _asked(option).get("", ()) if isinstance(one, str)]
    return [one.partition("/")[0].lstrip("-").replace("-", "_").lower() for one in said]


def _type_of(annotation: Any) -> Any:
    named = {"int": int, "float": float, "bool": bool, "str": str}
    return named.get(annotation, annotation) if isinstance(annotation, str) else annotation


def _is_null(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, NullObject)


def given_back(function: Any, decorator: NullObject, asking: FrameType) -> Any:
    """Return the function that a decorator, made by a call of the package, was put on.

    In the script's own module that is one that gets what it is called without.
    """
    entry = _entries.get(function)
    if entry is None:
        here = asking.f_code.co_name == "<module>" and owner(asking.f_code) == USER
        if not here or owner(function.__code__) != USER:
            return function
        function = _entered(HandedFunction(function, decorator._package))
        entry = _entries[function]
    entry.options.update(dict.fromkeys(_names(decorator), decorator))
    home = os.path.dirname(entry.function.__code__.co_filename)
    entry.settings = settings_in(home, _asked(decorator)) or entry.settings
    return function


def _entered(entry: HandedFunction) -> Any:
    """Return the function, which gets what it is called without, as its package would do it."""

    @wraps(entry.function)
    def entered(*args: Any, **kwargs: Any) -> Any:
        entry.ran = True
        if args or kwargs:
            return entry.function(*args, **kwargs)
        result = called(entered)
        member = _named(entry.members)
        return called(member) if member is not None else result

    def command(*args: Any, **kwargs: Any) -> Any:
        def register(function: Any) -> Any:
            member = (
                function
                if function in _entries
                else _entered(HandedFunction(function, entry.package))
            )
            entry.members.append(member)
            return member

        alone = len(args) == 1 and isinstance(args[0], FunctionType)
        return register(args[0]) if alone else register

    parts: Any = entered
    parts.command = parts.group = parts.add_command = command  # if the function is a group
    _entries[entered] = entry
    return entered


def taken_over(frame: FrameType, package: str, args: tuple[Any, ...]) -> bool:
    """Call what the script handed to the package, if this call of it is the last thing it does."""
    if owner(frame.f_code) != USER or not ends_with(frame):
        return False
    chosen = _handed(args[0], frame) if args else _waiting(package) or _unused(frame)
    if chosen is None:
        return False
    name = chosen.__name__
    _say(name, f"`{package}` is not installed here: `{name}` was called in its place.")
    called(chosen)
    return True


def _handed(component: Any, frame: FrameType) -> Any:
    if isinstance(component, dict):
        return _named([one for one in component.values() if isinstance(one, FunctionType)])
    if isinstance(component, type):
        return _method(component)
    if not isinstance(component, FunctionType):
        return None
    return component if component in _entries or owner(component.__code__) == USER else None


def _method(kind: type) -> Any:
    """Return what makes an object of a class of the script's and calls the method that an argument
    names, or that trains by its name; None if it has none."""
    own = {name: one for name, one in vars(kind).items() if isinstance(one, FunctionType)}
    wanted = next((name for name in (*sys.argv[1:], *_MAIN) if name in own), None)
    if wanted is None or owner(own[wanted].__code__) != USER:
        return None

    def chosen() -> Any:
        return called(getattr(called(kind), wanted))

    chosen.__name__ = f"{kind.__name__}.{wanted}"
    return chosen


def _waiting(package: str) -> Any:
    """Return one of the functions that the package's decorators were put on, if none has run."""
    ours = [made for made, entry in _entries.items() if entry.package == package]
    return None if any(_entries[made].ran for made in ours) else _named(ours)


def _unused(frame: FrameType) -> Any:
    """Return a main function of the script's that nothing in its module names."""
    own = [frame.f_globals.get(name) for name in _MAIN if not is_loaded(frame.f_code, name)]
    return _named([one for one in own if isinstance(one, FunctionType)])


def _named(functions: list[Any]) -> Any:
    """Return the one that an argument names, or that trains by its name, or the first."""
    by_name = {one.__name__: one for one in reversed(functions)}
    wanted = (*sys.argv[1:], *_MAIN, *(one.__name__ for one in functions))
    return next((by_name[name] for name in wanted if name in by_name), None)


def _say(name: str, detail: str) -> None:
    if _report is not None:
        _report(name, detail, "argument")
