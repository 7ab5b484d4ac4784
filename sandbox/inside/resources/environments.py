"""Environments whose simulator is missing, for Gymnasium: right spaces, short random episodes."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from ..stubs import sizes
from ..stubs.finding import when_imported
from ..stubs.gym import EPISODE, sizes_of
from ..stubs.synthesized import report_synthesized


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


def _kind(gymnasium: Any) -> type:
    class Synthesized(gymnasium.Env):  # type: ignore[misc]
        """One environment; episodes are short, observations and rewards random."""

        def __init__(self, name: str, render_mode: Any) -> None:
            observed, acted = sizes_of(name)
            self.observation_space = _space(gymnasium.spaces, observed, np.inf)
            self.action_space = _space(gymnasium.spaces, acted, 1.0)
            self.render_mode = render_mode
            self._steps = self._episodes = 0

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self._steps, self._episodes = 0, self._episodes + 1
            return self._observe(), {}

        def step(self, action: Any) -> Any:
            self._steps += 1
            done = self._steps >= EPISODE + self._episodes % 5
            return self._observe(), float(self.np_random.normal()) + 1.0, done, False, {}

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
