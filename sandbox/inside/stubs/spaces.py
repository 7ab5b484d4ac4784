"""The spaces of observations and actions that environments have."""

from __future__ import annotations

from typing import Any

import numpy as np


class Space:
    """A set of values with a shape; draws are the same in every run."""

    shape: Any = ()
    dtype: Any = None

    def __init__(self, shape: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        self.shape = tuple(shape or ())
        self.dtype = np.dtype(dtype) if dtype is not None else None
        self._random = np.random.default_rng(1)

    def seed(self, seed: Any = None) -> list[Any]:
        self._random = np.random.default_rng(seed)
        return [seed]

    def sample(self, *args: Any) -> Any:
        """Return a value drawn at random."""
        return self.drawn(self._random)

    def drawn(self, random: np.random.Generator) -> Any:
        """Return a value drawn from this generator: of a script's own space, numbers of its
        shape."""
        return random.random(self.shape)

    def contains(self, value: Any) -> bool:
        return True

    __contains__ = contains


class Box(Space):
    """Numbers between two bounds."""

    def __init__(
        self, low: Any = -1.0, high: Any = 1.0, shape: Any = None, dtype: Any = np.float32, **_: Any
    ) -> None:
        super().__init__(np.shape(low) if shape is None else shape, dtype)
        self.low = np.full(self.shape, 0, self.dtype) + np.asarray(low, self.dtype)
        self.high = np.full(self.shape, 0, self.dtype) + np.asarray(high, self.dtype)

    def drawn(self, random: np.random.Generator) -> Any:
        if self.dtype is not None and self.dtype.kind in "ui":
            return random.integers(0, 256, self.shape).astype(self.dtype)
        low, high = np.maximum(self.low, -1.0), np.minimum(self.high, 1.0)
        return random.uniform(low, high, self.shape).astype(self.dtype)


class Discrete(Space):
    """The numbers below `n`."""

    def __init__(self, n: int, start: int = 0, **_: Any) -> None:
        super().__init__((), np.int64)
        self.n, self.start = int(n), start

    def drawn(self, random: np.random.Generator) -> Any:
        return int(random.integers(self.n)) + self.start


class MultiDiscrete(Space):
    """A number below each of several."""

    def __init__(self, nvec: Any, **_: Any) -> None:
        self.nvec = np.asarray(nvec)
        super().__init__(self.nvec.shape, np.int64)

    def drawn(self, random: np.random.Generator) -> Any:
        return random.integers(self.nvec)


class MultiBinary(MultiDiscrete):
    """Several bits."""

    def __init__(self, n: Any, **_: Any) -> None:
        super().__init__(np.full(n, 2))
        self.n = n


class Dict(Space):
    """Spaces by name."""

    def __init__(self, spaces: Any = None, **named: Any) -> None:
        super().__init__()
        self.spaces = dict(spaces or {}, **named)

    def __getitem__(self, name: str) -> Any:
        return self.spaces[name]

    def drawn(self, random: np.random.Generator) -> Any:
        return {name: space.drawn(random) for name, space in self.spaces.items()}


class Tuple(Space):
    """Spaces in order."""

    def __init__(self, spaces: Any, **_: Any) -> None:
        super().__init__()
        self.spaces = tuple(spaces)

    def __getitem__(self, index: int) -> Any:
        return self.spaces[index]

    def drawn(self, random: np.random.Generator) -> Any:
        return tuple(space.drawn(random) for space in self.spaces)
