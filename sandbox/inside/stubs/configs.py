"""Packages of configurations: dictionaries whose keys are attributes too."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .null_object import NullModule

PROVIDES = ("omegaconf", "easydict", "munch", "addict", "ml_collections", "yacs", "box", "dotmap")
SAYS = "not installed here: configurations are dictionaries whose keys are attributes"
_FLOAT = re.compile(r"[-+]?\d{1,20}(?:\.\d{0,20})?[eE][-+]?\d{1,3}")
_REFERENCE = re.compile(r"\$\{([^${}]{1,200})\}")


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
    if dataclasses.is_dataclass(value):
        made = value() if isinstance(value, type) else value
        return AttributeDict(dataclasses.asdict(made))
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


def loaded(file: Any) -> Any:
    """Return the configuration in a YAML file, as these packages read it.

    `3e-4` is a number, and `${…}` refers to another entry or to the environment.
    """
    import yaml

    read = yaml.safe_load(Path(file).read_text())
    if isinstance(read, AttributeDict):  # a synthesized one
        return read
    return configured(_resolved(read or {}, read))


def _resolved(value: Any, root: Any) -> Any:
    if isinstance(value, dict):
        return {key: _resolved(one, root) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolved(one, root) for one in value]
    if not isinstance(value, str):
        return value
    if _FLOAT.fullmatch(value):
        return float(value)
    whole = _REFERENCE.fullmatch(value)
    if whole is not None:
        return _meant(whole, root)
    return _REFERENCE.sub(lambda found: str(_meant(found, root)), value)


def _meant(reference: re.Match[str], root: Any) -> Any:
    """Return what `${a.b}` or `${oc.env:NAME,default}` refers to; the name itself if nothing."""
    name, _, default = reference[1].partition(",")
    if name.startswith("oc.env:"):
        name = name.removeprefix("oc.env:").strip()
        return os.environ.get(name, default.strip() or name.lower())
    found = root
    for part in name.strip().split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, int | float | bool | str) else reference[0]


def overridden(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield `a.b=c` among the arguments."""
    for word in words:
        path, equals, value = word.lstrip("+~").partition("=")
        if equals:
            yield path.removeprefix("--"), value


class OmegaConf:
    """The functions of OmegaConf's class."""

    @staticmethod
    def create(value: Any = None, *args: Any, **kwargs: Any) -> Any:
        return configured({} if value is None else value)

    structured = create

    @staticmethod
    def load(file: Any) -> Any:
        return loaded(file)

    @staticmethod
    def merge(*configs: Any) -> AttributeDict:
        kinds = (type(one) for one in configs if isinstance(one, AttributeDict))
        merged = next(
            (kind for kind in kinds if kind is not AttributeDict), AttributeDict
        )()  # synthesized
        for config in configs:
            for key, value in (config or {}).items():
                both = isinstance(value, dict) and isinstance(merged.get(key), dict)
                merged[key] = OmegaConf.merge(merged[key], value) if both else configured(value)
        return merged

    @staticmethod
    def to_container(config: Any, *args: Any, **kwargs: Any) -> Any:
        return plain(config)

    to_object = to_container

    @staticmethod
    def to_yaml(config: Any, *args: Any, **kwargs: Any) -> str:
        return str(plain(config))

    @staticmethod
    def from_cli(words: list[str] | None = None) -> AttributeDict:
        import sys

        config = AttributeDict()
        for path, value in overridden(sys.argv[1:] if words is None else words):
            put(config, path, value)
        return config

    @staticmethod
    def nothing(*args: Any, **kwargs: Any) -> None:
        pass

    register_new_resolver = set_struct = set_readonly = resolve = save = nothing


def module(name: str) -> ModuleType:
    """Return `omegaconf`, `yacs.config`, …"""
    kinds = ("DictConfig", "EasyDict", "Munch", "Dict", "ConfigDict", "CfgNode", "Box", "DotMap")
    return NullModule(
        name, OmegaConf=OmegaConf, ListConfig=list, **dict.fromkeys(kinds, AttributeDict)
    )
