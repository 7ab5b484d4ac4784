"""What a script derives its own environments and wrappers from."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np


class Env:
    """The interface of environments; scripts subclass it."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "render.modes": []}
    reward_range = (-float("inf"), float("inf"))
    render_mode: Any = None
    observation_space: Any
    action_space: Any

    @property
    def spec(self) -> Any:
        return None

    @property
    def unwrapped(self) -> Any:
        return self

    def seed(self, seed: Any = None) -> list[Any]:
        return [seed]

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin an episode; a subclass calls this for the seed alone."""
        return None

    def render(self, *args: Any, **kwargs: Any) -> Any:
        return np.zeros((64, 64, 3), np.uint8)

    def close(self) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Wrapper(Env):
    """Hands everything on to the environment within."""

    def __init__(self, env: Any, *args: Any, **kwargs: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        if name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    @property
    def spec(self) -> Any:
        return self.env.spec

    def reset(self, **kwargs: Any) -> Any:
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> Any:
        return self.env.step(action)


class ObservationWrapper(Wrapper):
    """Changes what is observed."""

    def reset(self, **kwargs: Any) -> Any:
        given = self.env.reset(**kwargs)
        if isinstance(given, tuple):
            return self.observation(given[0]), given[1]
        return self.observation(given)

    def step(self, action: Any) -> Any:
        observed, *rest = self.env.step(action)
        return (self.observation(observed), *rest)

    def observation(self, observation: Any) -> Any:
        return observation


class RewardWrapper(Wrapper):
    """Changes the reward."""

    def step(self, action: Any) -> Any:
        observed, reward, *rest = self.env.step(action)
        return (observed, self.reward(reward), *rest)

    def reward(self, reward: Any) -> Any:
        return reward


class ActionWrapper(Wrapper):
    """Changes the action."""

    def step(self, action: Any) -> Any:
        return self.env.step(self.action(action))

    def action(self, action: Any) -> Any:
        return action
