"""Gym and Gymnasium: environments of the right sizes whose episodes are short and random."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from . import sizes
from .asking import awaited
from .gym_kinds import ActionWrapper, Env, ObservationWrapper, RewardWrapper, Spec, Wrapper
from .null_object import NullModule
from .sources import says
from .spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple

PROVIDES = ("gym", "gymnasium")
SAYS = "not installed here: observations and rewards are random, in the shapes of the original"
_PARTS = ("spaces", "wrappers", "vector", "envs", "utils", "error", "core")
EPISODE = 12  # steps, and a few more from one episode to the next
# beginning of an id → sizes of an observation and of an action; a number of actions is negative
_SIZES: dict[str, tuple[Any, Any]] = {
    "CartPole": (4, -2),
    "MountainCarContinuous": (2, 1),
    "MountainCar": (2, -3),
    "Acrobot": (6, -3),
    "Pendulum": (3, 1),
    "LunarLanderContinuous": (8, 2),
    "LunarLander": (8, -4),
    "BipedalWalker": (24, 4),
    "CarRacing": ((96, 96, 3), 3),
    "HalfCheetah": (17, 6),
    "Hopper": (11, 3),
    "Walker2d": (17, 6),
    "Ant": (27, 8),
    "Humanoid": (376, 17),
    "Swimmer": (8, 2),
    "Reacher": (11, 2),
    "InvertedPendulum": (4, 1),
    "InvertedDoublePendulum": (11, 1),
    "FrozenLake": (-16, -4),
    "Taxi": (-500, -6),
    "CliffWalking": (-48, -4),
    "Pong": ((210, 160, 3), -6),
    "Breakout": ((210, 160, 3), -4),
    "SpaceInvaders": ((210, 160, 3), -6),
    "ALE/": ((210, 160, 3), -6),
}
_registered: dict[str, Any] = {}


def _space(size: Any, *, action: bool) -> Space:
    if isinstance(size, int) and size < 0:
        return Discrete(-size)
    if isinstance(size, tuple) and len(size) == 3:
        return Box(0, 255, size, np.uint8)
    bound = 1.0 if action else np.inf
    return Box(-bound, bound, size if isinstance(size, tuple) else (size,), np.float32)


def _acted() -> int:
    """Return the actions of an unknown environment.

    They are two numbers if the script asks for their bounds or their shape; else one of two.
    """
    bounded = says(r"action_space\.(?:shape|high|low)\b") and not says(r"action_space\.n\b")
    return 2 if bounded else -2


def sizes_of(name: str) -> tuple[Any, Any]:
    """Return the sizes of an environment's observation and action; negative: so many choices."""
    known = max((key for key in _SIZES if name.startswith(key)), key=len, default=None)
    return _SIZES[known] if known else (sizes.shape_of("observation", (4,)), _acted())


class EpisodeInfo(dict[str, Any]):
    """What an environment says besides: nothing, and nought to who asks for something."""

    def __missing__(self, key: str) -> float:
        return 0.0


class SynthesizedEnv(Env):
    """An environment from `make`.

    `modern` says which of the two signatures it has, unless the calling line shows which it
    expects.
    """

    def __init__(self, name: str, *, modern: bool, render_mode: Any = None) -> None:
        observed, acted = sizes_of(name)
        self.observation_space = _space(observed, action=False)
        self.action_space = _space(acted, action=True)
        self._spec, self.render_mode = Spec(name), render_mode
        self._max_episode_steps = 200
        self._modern = modern
        self._random = np.random.default_rng(0)
        self._episode = self._step = 0

    @property
    def spec(self) -> Any:
        return self._spec

    def reset(self, *, seed: Any = None, options: Any = None, **kwargs: Any) -> Any:
        """Return the first observation; with an empty dictionary if the caller unpacks two."""
        self._episode += 1
        self._step = 0
        self._modern = self._modern or awaited(sys._getframe(1)) in (0, 2)
        return (self._observe(), EpisodeInfo()) if self._modern else self._observe()

    def step(self, action: Any) -> Any:
        """Return five values, or four if the caller unpacks four."""
        self._step += 1
        done = self._step >= EPISODE + self._episode % 5
        wanted = awaited(sys._getframe(1))
        observed, reward = self._observe(), float(self._random.standard_normal()) + 1.0
        if wanted == 4 or (wanted != 5 and not self._modern):
            return observed, reward, done, EpisodeInfo()
        return observed, reward, done, False, EpisodeInfo()

    def _observe(self) -> Any:
        observed = self.observation_space.drawn(self._random)
        return observed if isinstance(observed, int) else sizes.known(observed, "observation")


class Vector(Env):
    """Several environments in step; each that ends restarts."""

    def __init__(self, makers: list[Callable[[], Any]], *args: Any, **kwargs: Any) -> None:
        self.envs = [make() for make in makers]
        self.num_envs = len(self.envs)
        first = self.envs[0]
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = first.observation_space
        self.action_space = first.action_space

    def reset(self, **kwargs: Any) -> Any:
        given = [_reset(env) for env in self.envs]
        observed = np.stack(given)
        return (observed, {}) if awaited(sys._getframe(1)) in (0, 2) else observed

    def step(self, actions: Any) -> Any:
        results = [
            self._stepped(env, action) for env, action in zip(self.envs, actions, strict=False)
        ]
        observed, rewards, ended, cut = (np.stack(column) for column in zip(*results, strict=True))
        if awaited(sys._getframe(1)) == 4:
            return observed, rewards, ended | cut, [{} for _ in self.envs]
        return observed, rewards, ended, cut, {}

    def _stepped(self, env: Any, action: Any) -> tuple[Any, ...]:
        observed, reward, *ends, _ = env.step(action)
        if any(ends):
            observed = _reset(env)
        return observed, np.float32(reward), np.bool_(ends[0]), np.bool_(any(ends[1:]))


def _reset(env: Any) -> Any:
    given = env.reset()
    return given[0] if isinstance(given, tuple) else given


def make(name: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an environment: one that the script registered, or a stub."""
    entry = _registered.get(str(name))
    if isinstance(entry, str):
        home, _, kind = entry.partition(":")
        entry = getattr(importlib.import_module(home), kind)
    if entry is not None:
        return entry(**kwargs)
    return SynthesizedEnv(str(name), modern=True, render_mode=kwargs.get("render_mode"))


def make_old(name: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the same, in the signatures of before 2022."""
    made = make(name, *args, **kwargs)
    if isinstance(made, SynthesizedEnv):
        made._modern = kwargs.get("render_mode") is not None or kwargs.get("new_step_api", False)
    return made


def vector(name: str, num_envs: int = 1, **kwargs: Any) -> Vector:
    """Return several environments of one name."""
    return Vector([lambda: make(name)] * num_envs)


def register(id: str = "", entry_point: Any = None, **kwargs: Any) -> None:
    """Remember what the script calls one of its own."""
    _registered[id] = entry_point


def _names(package: str) -> Iterator[tuple[str, Any]]:
    for kind in (Env, Wrapper, ObservationWrapper, RewardWrapper, ActionWrapper, Space):
        yield kind.__name__, kind
    for space in (Box, Discrete, MultiDiscrete, MultiBinary, Dict, Tuple):
        yield space.__name__, space
    yield "make", make if package == "gymnasium" else make_old
    yield "make_vec", vector
    yield "register", register
    yield from (("SyncVectorEnv", Vector), ("AsyncVectorEnv", Vector))


class Wrappers(NullModule):
    """`gym.wrappers`: every wrapper changes nothing."""

    def __getattr__(self, name: str) -> Any:
        return Wrapper if name[:1].isupper() else super().__getattr__(name)


def module(name: str) -> ModuleType:
    """Return `gym`, `gym.spaces`, …"""
    package, _, part = name.partition(".")
    if part.startswith("wrappers"):
        return Wrappers(name)
    return NullModule(name, () if part else _PARTS, **dict(_names(package)))
