"""Python 2 and what the standard library has lost since: names that scripts still use."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import importlib
import inspect
import itertools
import time
from functools import reduce
from types import ModuleType
from typing import Any

import numpy as np

from .finding import Report
from .null_object import NullModule

# modules of Python 2 → those of today
_MOVED = {
    "cPickle": "pickle",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "StringIO": "io",
    "cStringIO": "io",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "itertools_": "itertools",
    "__builtin__": "builtins",
    "HTMLParser": "html.parser",
    "thread": "_thread",
}
_LOST = ("imp", "distutils", "Tkinter", "commands", "sets")
PROVIDES = ("six", "future", "past", *_MOVED, *_LOST)
KIND = "api"
SAYS = "A module of an older Python: the one that replaced it was used."
_BUILTINS: dict[str, Any] = {
    "xrange": range,
    "unicode": str,
    "basestring": str,
    "long": int,
    "raw_input": input,
    "unichr": chr,
    "reduce": reduce,
    "reload": importlib.reload,
    "cmp": lambda a, b: (a > b) - (a < b),
}
_NUMPY: dict[str, Any] = {
    "float": float,
    "int": int,
    "bool": bool,
    "object": object,
    "str": str,
    "complex": complex,
    "long": int,
    "float_": np.float64,
    "unicode_": np.str_,
    "product": np.prod,
    "Inf": np.inf,
    "infty": np.inf,
    "NaN": np.nan,
    "in1d": np.isin,
    "row_stack": np.vstack,
    "asscalar": lambda array: array.item(),
}
_ABSTRACT = ("Mapping", "MutableMapping", "Sequence", "Iterable", "Iterator", "Callable", "Set")


def install(report: Report) -> None:
    """Give what is gone back, and say so when it is used."""
    for name, value in _BUILTINS.items():
        if not hasattr(builtins, name):
            setattr(builtins, name, _reporting(name, value, report))
    for name in (*_ABSTRACT, "Hashable", "Sized", "MutableSequence"):
        if not hasattr(collections, name):
            _later(collections, name, lambda name=name: getattr(collections.abc, name), report)
    for name, value in _NUMPY.items():
        if name not in vars(np):
            _later(np, name, lambda value=value: value, report)
    if not hasattr(time, "clock"):
        setattr(time, "clock", time.perf_counter)  # noqa: B010 (it has no such name)
    if not hasattr(inspect, "getargspec"):
        setattr(inspect, "getargspec", inspect.getfullargspec)  # noqa: B010


def _reporting(name: str, value: Any, report: Report) -> Any:
    """Return a class unchanged, for `isinstance`; a function that reports its calls otherwise."""
    if isinstance(value, type):
        return value

    def older(*args: Any, **kwargs: Any) -> Any:
        report(name, f"`{name}` is of an older Python: what replaced it was used.", "api")
        return value(*args, **kwargs)

    return older


def _later(module: ModuleType, name: str, get: Any, report: Report) -> None:
    """Define an attribute that is looked up on access."""
    kept = vars(module).setdefault("_older", {})
    kept[name] = get
    if len(kept) > 1:
        return
    asked = vars(module).get("__getattr__")

    def look_up(wanted: str) -> Any:
        if wanted in kept:
            spelled = f"{module.__name__}.{wanted}"
            report(spelled, f"`{spelled}` is gone: what replaced it was used.", "api")
            return kept[wanted]()
        if asked is not None:
            return asked(wanted)
        raise AttributeError(f"module {module.__name__!r} has no attribute {wanted!r}")

    vars(module)["__getattr__"] = look_up


class Moved(NullModule):
    """`six.moves`: modules and functions under their names of Python 2."""

    def __getattr__(self, name: str) -> Any:
        if name in _BUILTINS:
            return _BUILTINS[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        for found in (_MOVED.get(name), name, f"{name}_"):
            try:
                return importlib.import_module(str(found))
            except ImportError:
                continue
        return super().__getattr__(name)


def module(name: str) -> ModuleType:
    """Return `six.moves`, `cPickle`, `distutils.util`, …"""
    if name in _MOVED:
        return importlib.import_module(_MOVED[name])
    if name.startswith(("six.moves", "past.builtins", "future", "builtins")):
        return Moved(name, zip_longest=itertools.zip_longest)
    if name.startswith("six"):
        return NullModule(
            name,
            PY2=False,
            PY3=True,
            string_types=(str,),
            integer_types=(int,),
            text_type=str,
            binary_type=bytes,
            moves=Moved("six.moves"),
            iteritems=lambda mapping: iter(mapping.items()),
            itervalues=lambda mapping: iter(mapping.values()),
            iterkeys=lambda mapping: iter(mapping),
            with_metaclass=lambda meta, *bases: meta("Base", bases or (object,), {}),
            add_metaclass=lambda meta: (
                lambda kind: meta(kind.__name__, kind.__bases__, dict(vars(kind)))
            ),
        )
    if name.startswith("distutils"):
        return NullModule(name, strtobool=_truth, LooseVersion=_version)
    return NullModule(name)


def _truth(text: str) -> int:
    """Imitate `distutils.util.strtobool`."""
    if text.lower() in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if text.lower() in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {text!r}")


def _version(text: Any) -> Any:
    """Imitate `distutils.version.LooseVersion`, compared by its numbers."""
    import re

    return tuple(int(number) for number in re.findall(r"\d+", str(text))[:3])
