"""Packages that make command lines: their defaults, and what the arguments say."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .arguments import filled_in, value_for
from .configs import AttributeDict, loaded, overridden, put, read_value
from .finding import Report
from .null_object import NullModule

PROVIDES = (
    *("tyro", "fire", "absl", "hydra", "simple_parsing", "click", "typer", "tap", "docopt"),
    *("jsonargparse", "argh", "clize", "defopt", "plac"),
)
SAYS = "not installed here: options have their defaults, or the given arguments"
_report: Report | None = None


def install(report: Report) -> None:
    """Remember whom to tell what is filled in."""
    global _report
    _report = report


def _filled(name: str, kind: Any = None) -> Any:
    """Return a value for what is required and not given."""
    value = value_for(name, kind if kind in (int, float, bool, str) else None)
    if _report is not None:
        _report(f"--{name}", filled_in(f"--{name}", value), "argument")
    return value


def _given() -> Iterator[tuple[str, Any]]:
    """Yield the options among the arguments: `--name value`, `--name=value`, `--flag`."""
    words = sys.argv[1:]
    for at, word in enumerate(words):
        if word.startswith("-") and not word.lstrip("-")[:1].isdigit():
            name, equals, value = word.lstrip("-").partition("=")
            following = words[at + 1 : at + 2]
            bare = not following or following[0].startswith("--")
            text = value if equals else "true" if bare else following[0]
            yield name.replace("-", "_"), read_value(text)


def made(kind: type) -> Any:
    """Return a dataclass of given values, its defaults, and filled-in values."""
    if not dataclasses.is_dataclass(kind):
        return kind()
    given, hints, values = dict(_given()), typing.get_type_hints(kind), {}
    for entry in dataclasses.fields(kind):
        if not entry.init:
            continue
        wanted = hints.get(entry.name, str)
        required = entry.default is entry.default_factory is dataclasses.MISSING
        if entry.name in given:
            values[entry.name] = given[entry.name]
        elif required and dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
            values[entry.name] = made(wanted)
        elif required:
            values[entry.name] = _filled(entry.name, wanted)
    return kind(**values)


def _called(function: Callable[..., Any]) -> Any:
    """Call a function with what was given and what is filled in."""
    given, values = dict(_given()), {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in given:
            values[name] = given[name]
        elif parameter.default is parameter.empty:
            values[name] = _filled(name, _type_of(parameter.annotation))
    return function(**values)


def _type_of(annotation: Any) -> Any:
    named = {"int": int, "float": float, "bool": bool, "str": str}
    return named.get(annotation, annotation) if isinstance(annotation, str) else annotation


def cli(wanted: Any, *args: Any, **kwargs: Any) -> Any:
    """Imitate `tyro.cli`: return an instance of the class, or the function's result."""
    if kwargs.get("default") is not None:
        return kwargs["default"]
    return made(wanted) if isinstance(wanted, type) else _called(wanted)


def fire(component: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Imitate `fire.Fire`: call the function, or the one that the first argument names."""
    if callable(component):
        return _called(component)
    named = component if isinstance(component, dict) else vars(sys.modules["__main__"])
    wanted = next((word for word in sys.argv[1:] if word in named), None)
    chosen = wanted or next((n for n in ("train", "main", "run") if callable(named.get(n))), None)
    return _called(named[chosen]) if chosen is not None else None


class Flags(AttributeDict):
    """`absl.flags.FLAGS`; asking before the definitions have run is not refused."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[str]:
        self.update({name: value for name, value in _given() if name in self})
        return sys.argv[:1]

    def define(self, name: str, default: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Define one flag; the second argument is a list of values for an enumeration."""
        self[name] = default
        return type("Flag", (), {"value": property(lambda _: self[name])})()


FLAGS = Flags()


def _required(name: str, *args: Any, **kwargs: Any) -> None:
    if FLAGS.get(name) is None:
        FLAGS[name] = _filled(name)


def run(main: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Imitate `absl.app.run`."""
    FLAGS()
    sys.exit(main(sys.argv[:1]))


def hydra_main(*args: Any, **options: Any) -> Any:
    """Imitate `hydra.main`: read the configuration from its file, changed by the arguments."""

    def decorated(main: Callable[[Any], Any]) -> Callable[..., Any]:
        @functools.wraps(main)
        def start(config: Any = None) -> Any:
            return main(config if config is not None else _composed(main, **options))

        return start

    return decorated


def _composed(
    main: Any, config_path: Any = None, config_name: Any = None, **_: Any
) -> AttributeDict:
    """Return a configuration file merged with those that its `defaults` name."""
    folder = Path(inspect.getfile(inspect.unwrap(main))).parent / (config_path or ".")
    name = str(config_name or "config").removesuffix(".yaml")
    config: AttributeDict = loaded(folder / f"{name}.yaml")
    for entry in config.pop("defaults", []):
        for group, choice in entry.items() if isinstance(entry, dict) else ():
            config.setdefault(group, loaded(folder / group / f"{choice}.yaml"))
    for path, value in overridden(sys.argv[1:]):
        put(config, path, value)
    return config


def command(*args: Any, **kwargs: Any) -> Any:
    """Imitate `click.command`: the decorated function gets its options when called bare."""
    if args and callable(args[0]):
        return command()(args[0])

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def start(*given: Any, **named: Any) -> Any:
            if given or named:
                return function(*given, **named)
            return function(**_options(function))

        start.command = command  # type: ignore[attr-defined]
        return start

    return decorated


def _options(function: Any) -> dict[str, Any]:
    """Return a value for each option that decorators recorded on the function."""
    given, values = dict(_given()), {}
    for name, settings in getattr(function, "_noted", {}).items():
        choices = getattr(settings.get("type"), "choices", None)
        if name in given:
            values[name] = given[name]
        elif settings.get("required") and settings.get("default") is None:
            values[name] = choices[0] if choices else _filled(name, settings.get("type"))
        else:
            values[name] = settings.get("default", False if settings.get("is_flag") else None)
    return values


def option(*names: str, **settings: Any) -> Any:
    """Imitate `click.option` and `click.argument`: record it on the function."""
    name = max((n.partition("/")[0].lstrip("-").replace("-", "_") for n in names), key=len)

    def noted(function: Any) -> Any:
        function._noted = {name: settings, **getattr(function, "_noted", {})}
        return function

    return noted


def argument(name: str, **settings: Any) -> Any:
    """Record a positional argument: required unless it has a default."""
    return option(name, **{"required": "default" not in settings, **settings})


class Choice:
    """One of several words."""

    def __init__(self, choices: Any, *args: Any, **kwargs: Any) -> None:
        self.choices = list(choices)


def module(name: str) -> ModuleType:
    """Return `tyro`, `fire`, `absl.flags`, `hydra`, `click`, …"""
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
        "jsonargparse": {"CLI": fire, "auto_cli": fire, "ArgumentParser": argparse.ArgumentParser},
        "argh": {"dispatch_command": fire},
        "clize": {"run": fire},
        "defopt": {"run": fire},
        "plac": {"call": fire},
        "fire": {"Fire": fire},
        "hydra": {"main": hydra_main},
        "typer": {"run": _called},
        "click": {
            "command": command,
            "group": command,
            "option": option,
            "argument": argument,
            "Choice": Choice,
            "echo": print,
            "INT": int,
            "FLOAT": float,
            "STRING": str,
        },
    }
    parts = ("app", "flags", "logging") if name == "absl" else ()
    return NullModule(name, parts, **named.get(package, {}))
