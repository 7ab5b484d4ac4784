"""Packages that make command lines: their defaults, and what the arguments say."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import typing
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .configs import AttributeDict
from .handed_functions import called, filled, given
from .null_object import NullModule

PROVIDES = (
    *("tyro", "absl", "simple_parsing", "tap", "docopt"),
    *("jsonargparse", "argh", "clize", "defopt", "plac"),
)
SAYS = "not installed here: options have their defaults, or the given arguments"


def made(kind: type) -> Any:
    """Return a dataclass of given values, its defaults, and filled-in values."""
    if not dataclasses.is_dataclass(kind):
        return kind()
    options, hints, values = dict(given()), typing.get_type_hints(kind), {}
    for entry in dataclasses.fields(kind):
        if not entry.init:
            continue
        wanted = hints.get(entry.name, str)
        required = entry.default is entry.default_factory is dataclasses.MISSING
        if entry.name in options:
            values[entry.name] = options[entry.name]
        elif required and dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
            values[entry.name] = made(wanted)
        elif required:
            values[entry.name] = filled(entry.name, wanted)
    return kind(**values)


def cli(wanted: Any, *args: Any, **kwargs: Any) -> Any:
    """Imitate `tyro.cli`: return an instance of the class, or the function's result."""
    if kwargs.get("default") is not None:
        return kwargs["default"]
    return made(wanted) if isinstance(wanted, type) else called(wanted)


def dispatched(component: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Call the function, or the one that the first argument names."""
    if callable(component):
        return called(component)
    named = component if isinstance(component, dict) else vars(sys.modules["__main__"])
    wanted = next((word for word in sys.argv[1:] if word in named), None)
    chosen = wanted or next((n for n in ("train", "main", "run") if callable(named.get(n))), None)
    return called(named[chosen]) if chosen is not None else None


class Flags(AttributeDict):
    """`absl.flags.FLAGS`; asking before the definitions have run is not refused."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[str]:
        self.update({name: value for name, value in given() if name in self})
        return sys.argv[:1]

    def define(self, name: str, default: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Define one flag; the second argument is a list of values for an enumeration."""
        self[name] = default
        return type("Flag", (), {"value": property(lambda _: self[name])})()


FLAGS = Flags()


def _required(name: str, *args: Any, **kwargs: Any) -> None:
    if FLAGS.get(name) is None:
        FLAGS[name] = filled(name)


def run(main: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Imitate `absl.app.run`."""
    FLAGS()
    sys.exit(main(sys.argv[:1]))


def module(name: str) -> ModuleType:
    """Return `tyro`, `absl.flags`, `argh`, …"""
    package, _, part = name.partition(".")
    if package == "absl" and part == "flags":
        kinds = ("string", "integer", "float", "bool", "boolean", "list", "multi_string")
        defined: dict[str, Any] = {f"DEFINE_{kind}": FLAGS.define for kind in kinds}
        return NullModule(
            name, FLAGS=FLAGS, DEFINE_enum=FLAGS.define, mark_flag_as_required=_required, **defined
        )
    named: dict[str, dict[str, Any]] = {
        "absl": {"run": run},
        "tyro": {"cli": cli},
        "simple_parsing": {"parse": cli},
        "jsonargparse": {
            "CLI": dispatched,
            "auto_cli": dispatched,
            "ArgumentParser": argparse.ArgumentParser,
        },
        "argh": {"dispatch_command": dispatched},
        "clize": {"run": dispatched},
        "defopt": {"run": dispatched},
        "plac": {"call": dispatched},
    }
    parts = ("app", "flags", "logging") if name == "absl" else ()
    return NullModule(name, parts, **named.get(package, {}))
