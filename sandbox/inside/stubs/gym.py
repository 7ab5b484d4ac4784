"""Gym before 0.26: Gymnasium's environments and spaces, in the signatures of then."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from .asking import awaited
from .gym_kinds import ActionWrapper, Env, ObservationWrapper, RewardWrapper, Wrapper
from .null_object import NullModule

PROVIDES = ("gym",) if importlib.util.find_spec("gymnasium") else ()
SAYS = "not installed here: Gymnasium's environments, in the older signatures"
_registered: dict[str, Any] = {}


class Older(Wrapper):
    """An environment of Gymnasium's, or several in step. `modern` says which of the two signatures
    it has, unless the calling line shows which it expects."""

    def __init__(self, env: Any, *, modern: bool = False) -> None:
        super().__init__(env)
        self._modern = modern
        self._seed: dict[str, Any] = {}

    @property
    def _max_episode_steps(self) -> int:
        return getattr(self.spec, "max_episode_steps", None) or 200

    def seed(self, seed: Any = None) -> list[Any]:
        """Have the next episode begin with this seed."""
        self._seed = {"seed": seed}
        return [seed]

    def reset(self, **kwargs: Any) -> Any:
        """Return the first observation; with a dictionary if the caller unpacks two."""
        observed, info = self.env.reset(**{**self._seed, **kwargs})
        self._seed = {}
        self._modern = self._modern or awaited(sys._getframe(1)) in (0, 2)
        return (observed, info) if self._modern else observed

    def step(self, action: Any) -> Any:
        """Return five values, or four if the caller unpacks four."""
        observed, reward, ended, cut, info = self.env.step(action)
        wanted = awaited(sys._getframe(1))
        if wanted == 4 or (wanted != 5 and not self._modern):
            return observed, reward, ended | cut, info
        return observed, reward, ended, cut, info


def make(name: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an environment that the script registered, or Gymnasium's, in its latest version."""
    entry = _registered.get(str(name))
    if isinstance(entry, str):
        home, _, kind = entry.partition(":")
        entry = getattr(importlib.import_module(home), kind)
    if entry is not None:
        return entry(**kwargs)
    modern = kwargs.pop("new_step_api", False) or kwargs.get("render_mode") is not None
    gymnasium = importlib.import_module("gymnasium")
    return Older(gymnasium.make(_latest(str(name), gymnasium.registry), **kwargs), modern=modern)


def _latest(name: str, known: Any) -> str:
    """Return the name, with a version that is known if its own is not."""
    if name in known:
        return name
    start = name.rpartition("-v")[0] + "-v"
    return max((one for one in known if one.startswith(start)), key=_version, default=name)


def _version(name: str) -> int:
    return int(name.rpartition("-v")[2])


def register(id: str = "", entry_point: Any = None, **kwargs: Any) -> None:
    """Remember what the script calls one of its own."""
    _registered[id] = entry_point


def in_step(makers: Any, *args: Any, **kwargs: Any) -> Older:
    """Return several environments that go in step."""
    return Older(importlib.import_module("gymnasium.vector").SyncVectorEnv(makers))


def vector(name: str, num_envs: int = 1, **kwargs: Any) -> Older:
    """Return several environments of one name."""
    return in_step([lambda: make(name)] * num_envs)


OWN: dict[str, Any] = {
    **{kind.__name__: kind for kind in (Env, Wrapper, ObservationWrapper, RewardWrapper)},
    "ActionWrapper": ActionWrapper,
    "make": make,
    "register": register,
    "SyncVectorEnv": in_step,
    "AsyncVectorEnv": in_step,
}


class Gym(NullModule):
    """A part of Gym: what changed is its own, the rest is that of the same part of Gymnasium."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        part = self.__name__.removeprefix("gym")
        if part.startswith(".wrappers") and name[:1].isupper():
            return Wrapper  # which changes nothing
        found = getattr(importlib.import_module(f"gymnasium{part}"), name)
        inner = isinstance(found, ModuleType) and found.__name__ == f"gymnasium{part}.{name}"
        return importlib.import_module(f"{self.__name__}.{name}") if inner else found


def module(name: str) -> ModuleType:
    """Return `gym`, `gym.spaces`, …"""
    return Gym(name, **(OWN | {"make": vector} if name == "gym.vector" else OWN))
