"""Packages of configurations: dictionaries whose keys are attributes too."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .null_object import NullModule

PROVIDES = ("easydict", "munch", "addict", "ml_collections", "yacs", "box", "dotmap")
SAYS = "not installed here: configurations are dictionaries whose keys are attributes"


class AttributeDict(dict[str, Any]):
    """A dictionary whose keys are attributes; dictionaries in it are such, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = args[:1] if args and not isinstance(args[0], str | bool | type(None)) else ()
        for key, value in dict(*given, **kwargs).items():
            self[key] = configured(value)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = configured(value)

    def __delattr__(self, name: str) -> None:
        del self[name]

    def update(self, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("allow_val_change", None)
        super().update(*args, **kwargs)

    def copy(self) -> Any:
        return type(self)(dict(self))

    clone = copy_and_resolve_references = copy

    def to_dict(self) -> Any:
        return plain(self)

    toDict = to_dict  # noqa: N815 (as the packages call it)

    def freeze(self, *args: Any) -> None:
        pass

    defrost = lock = unlock = freeze

    def merge_from_list(self, words: list[Any]) -> None:
        """Set `a.b` to what follows it, again and again."""
        for path, value in zip(words[::2], words[1::2], strict=False):
            put(self, path, value)


def configured(value: Any) -> Any:
    """Return the value, with a configuration for every dictionary in it."""
    if isinstance(value, dict):
        return value if type(value) is AttributeDict else AttributeDict(value)
    if isinstance(value, list):
        return [configured(item) for item in value]
    return value


def plain(value: Any) -> Any:
    """Return the value without configurations, except synthesized ones."""
    if isinstance(value, AttributeDict) and type(value) is not AttributeDict:
        return value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def put(config: AttributeDict, path: str, value: Any) -> None:
    """Set `a.b.c`, making what is missing on the way."""
    *way, last = path.split(".")
    for name in way:
        config = config.setdefault(name, AttributeDict())
    config[last] = read_value(value)


def read_value(text: Any) -> Any:
    """Return a number, a truth value or a list, if the text is one."""
    import ast

    if not isinstance(text, str):
        return text
    named = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in named:
        return named[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def module(name: str) -> ModuleType:
    """Return `easydict`, `yacs.config`, …"""
    kinds = ("EasyDict", "Munch", "Dict", "ConfigDict", "CfgNode", "Box", "DotMap")
    return NullModule(name, **dict.fromkeys(kinds, AttributeDict))
