"""Environments whose simulator is missing, for Gymnasium: right spaces, short random episodes."""

from __future__ import annotations

from functools import wraps
from itertools import count
from typing import Any

import numpy as np

from ..stubs import sizes
from ..stubs.finding import when_imported
from ..stubs.sources import says
from ..stubs.synthesized import report_synthesized

_SEEDS = count()  # of the environments of a run, in the order in which they are made
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


def install() -> None:
    """Hook Gymnasium if it is installed."""
    when_imported("gymnasium", _hook)


def _hook(gymnasium: Any) -> None:
    if not hasattr(gymnasium, "Env") or not hasattr(gymnasium, "error"):
        return
    original = gymnasium.make
    kind = _kind(gymnasium)

    @wraps(original)
    def make(name: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(name, *args, **kwargs)
        except (gymnasium.error.Error, ImportError):
            if not isinstance(name, str):
                raise
            report_synthesized(name, "an environment with its spaces and random observations")
            return kind(name, kwargs.get("render_mode"))

    gymnasium.make = make


class EpisodeInfo(dict[str, Any]):
    """What an environment says besides: nothing, and nought to who asks for something."""

    def __missing__(self, key: str) -> float:
        return 0.0


def _kind(gymnasium: Any) -> type:
    class Synthesized(gymnasium.Env):  # type: ignore[misc]
        """One environment; episodes are short, observations and rewards random."""

        def __init__(self, name: str, render_mode: Any) -> None:
            observed, acted = _sizes_of(name)
            self.observation_space = _space(gymnasium.spaces, observed, np.inf)
            self.action_space = _space(gymnasium.spaces, acted, 1.0)
            self.render_mode = render_mode
            self._steps = self._episodes = 0
            seed = next(_SEEDS)  # without it each run of a script would have other episodes
            super().reset(seed=seed)
            self.action_space.seed(seed)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self._steps, self._episodes = 0, self._episodes + 1
            return self._observe(), EpisodeInfo()

        def step(self, action: Any) -> Any:
            self._steps += 1
            done = self._steps >= EPISODE + self._episodes % 5
            return self._observe(), float(self.np_random.normal()) + 1.0, done, False, EpisodeInfo()

        def _observe(self) -> Any:
            space = self.observation_space
            if isinstance(space, gymnasium.spaces.Discrete):
                return int(self.np_random.integers(space.n))
            drawn = self.np_random.standard_normal(space.shape)
            return sizes.known(drawn.astype(space.dtype), "observation")

        def render(self) -> Any:
            return np.zeros((64, 64, 3), np.uint8)

    return Synthesized


def _space(spaces: Any, size: Any, bound: float) -> Any:
    """Return a space: a negative number counts choices, others are the shape of a box."""
    if isinstance(size, int) and size < 0:
        return spaces.Discrete(-size)
    if isinstance(size, tuple) and len(size) == 3:
        return spaces.Box(0, 255, size, np.uint8)
    return spaces.Box(-bound, bound, size if isinstance(size, tuple) else (size,), np.float32)


def _acted() -> int:
    """Return the actions of an unknown environment.

    They are two numbers if the script asks for their bounds or their shape; else one of two.
    """
    bounded = says(r"action_space\.(?:shape|high|low)\b") and not says(r"action_space\.n\b")
    return 2 if bounded else -2


def _sizes_of(name: str) -> tuple[Any, Any]:
    """Return the sizes of an environment's observation and action; negative: so many choices."""
    known = max((key for key in _SIZES if name.startswith(key)), key=len, default=None)
    return _SIZES[known] if known else (sizes.shape_of("observation", (4,)), _acted())
