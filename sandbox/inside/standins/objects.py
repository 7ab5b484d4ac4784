"""Objects in files that were not sent: settings, states, checkpoints."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .arguments import value_for
from .asking import unpacked
from .configs import Config
from .finding import Report, when_imported
from .made_up import MadeUp, MadeUpBytes, asked_by_user, is_missing, made_up, name_of
from .noise import noise

_NAMING = re.compile(
    r"name|type|mode|kind|model|arch|dataset|split|optim|sched|activation|loss|backbone|task|env"
    r"|method|norm|backend|precision|host|url|user|project|entity|tag|text|prompt|message|format"
    r"|key|group|title|device|policy|target|column|id$"
)


class Answers(Config):
    """A mapping that has every key it is asked for, with a value that fits the key's name."""

    def __missing__(self, key: Any) -> Any:
        self[key] = value_for(str(key), _kind_of(str(key)))
        return self[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if default is None else super().get(key, default)

    def __contains__(self, key: Any) -> bool:
        return True


def _kind_of(name: str) -> Any:
    """Whether a setting of this name is a whole number, another number, or a word."""
    whole = value_for(name, str)
    if whole != name:
        return str
    number = value_for(name, float)
    if number == 0.5:  # nothing in the name says
        return str if _NAMING.search(name.lower()) else float
    return int if float(number).is_integer() else float


def install(report: Report) -> None:
    """`torch.load`, `pickle.load`, `json.load`, `yaml.load` of what was made up;
    states that were made up and are loaded into modules and optimizers."""
    patched: Any = torch
    load, unpickle, parse = patched.load, pickle.load, json.load

    @wraps(load)
    def loading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, MadeUpBytes) or (is_missing(file) and asked_by_user()):
            name = name_of(file)
            made_up(name, "noise, as a tensor or as a state,")
            return State(name=Path(name).name)
        return load(file, *args, **kwargs)

    @wraps(unpickle)
    def unpickling(file: Any, *args: Any, **kwargs: Any) -> Any:
        return Answers() if isinstance(file, MadeUpBytes) else unpickle(file, *args, **kwargs)

    @wraps(parse)
    def parsing(file: Any, *args: Any, **kwargs: Any) -> Any:
        return Answers() if isinstance(file, MadeUp) else parse(file, *args, **kwargs)

    patched.load = loading
    setattr(pickle, "load", unpickling)  # noqa: B010 (a function of C)
    setattr(json, "load", parsing)  # noqa: B010 (typed otherwise)
    when_imported("yaml", _yaml)
    for kind in (patched.nn.Module, patched.optim.Optimizer):
        _loading_nothing(kind)


def _yaml(yaml: Any) -> None:
    for name in ("load", "safe_load", "full_load"):
        original = getattr(yaml, name)

        def parsing(stream: Any, *args: Any, original: Any = original, **kwargs: Any) -> Any:
            return Answers() if isinstance(stream, MadeUp) else original(stream, *args, **kwargs)

        setattr(yaml, name, parsing)


class Values(np.ndarray):
    """An array which may be taken for what a mapping is asked for its values."""

    def __call__(self) -> list[Any]:
        return []


class State(Answers):
    """A checkpoint that was made up: what is loaded from it changes nothing. What is asked of it
    as of a tensor it answers as one."""

    def __init__(self, name: str = "", beside: int | None = None) -> None:
        super().__init__()
        self.__dict__.update(_name=name, _tensor=None, _beside=beside)

    def __missing__(self, key: Any) -> Any:
        whole = {"epoch": 0, "step": 0, "iteration": 0, "global_step": 0, "start_epoch": 0}
        self[key] = whole[key.lower()] if key.lower() in whole else State(key)
        return self[key]

    def __getattr__(self, name: str) -> Any:
        if not self and hasattr(torch.Tensor, name):
            return getattr(self._as_tensor(), name)
        return super().__getattr__(name)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else self._as_tensor()[key]

    def __iter__(self) -> Iterator[Any]:
        if self._beside is not None and (asked := unpacked(sys._getframe(1))) is not None:
            return iter([State(self._name), *[self._beside] * (asked - 1)])
        return super().__iter__() if self else iter(self._as_tensor())

    def __len__(self) -> int:
        return super().__len__() or len(self._as_tensor())

    def __bool__(self) -> bool:
        return super().__len__() > 0

    @property
    def values(self) -> Any:
        """As of a mapping; an array, where it is not called."""
        return super().values if self else np.asarray(self).view(Values)

    def _as_tensor(self) -> torch.Tensor:
        if self._tensor is None:
            array = noise(self._name)
            made: Any = torch.from_numpy(array)
            made._came_of = getattr(array, "_made_for", None)
            self.__dict__["_tensor"] = made
        held: torch.Tensor = self._tensor
        return held

    def __enter__(self) -> State:
        """As of a file that is opened."""
        return self

    def __exit__(self, *error: object) -> None: ...

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._as_tensor().numpy()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def real(value: Any) -> Any:
            return value._as_tensor() if isinstance(value, State) else value

        return func(*map(real, args), **{k: real(v) for k, v in (kwargs or {}).items()})


def _on_tensor(name: str) -> Any:
    return lambda self, *others: getattr(self._as_tensor(), name)(*others)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "matmul", "gt", "lt", "neg"):
    setattr(State, f"__{_name}__", _on_tensor(f"__{_name}__"))


def _loading_nothing(kind: Any) -> None:
    load = kind.load_state_dict

    @wraps(load)
    def loading(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state, State):
            return None
        return load(self, state, *args, **kwargs)

    kind.load_state_dict = loading
