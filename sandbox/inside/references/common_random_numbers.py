"""Common random numbers for torch, NumPy and `random`: every draw is seeded by where it stands."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch.utils.checkpoint

from ..core.dispatch_mode import DispatchMode
from .random_draws import RandomDraws

_random: Any = random
_torch: Any = torch
_CHECKPOINT = torch.utils.checkpoint.__file__


class CommonRandomness(DispatchMode):
    """Seeds the generator before every operation of torch that draws from one.

    What runs within a checkpoint draws on from the state that the checkpoint has noted, and draws
    the same when it is computed again.
    """

    def __init__(self, draws: RandomDraws) -> None:
        super().__init__()
        self._draws = draws
        self._drawing: dict[Any, bool] = {}

    def install(self) -> None:
        """Switch it on for good, for NumPy and `random` too."""
        note_state = torch.get_rng_state

        def get_rng_state() -> torch.Tensor:
            torch.default_generator.manual_seed(self._draws.seed("get_rng_state"))
            return note_state()

        _torch.get_rng_state = get_rng_state
        _seed_python(self._draws)
        if "numpy" in sys.modules:
            _seed_numpy(self._draws)
        self.__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._draws_from_generator(func) and not _within_checkpoint():
            generator = kwargs.get("generator") or torch.default_generator
            generator.manual_seed(self._draws.seed(func._schema.name))
        return func(*args, **kwargs)

    def _draws_from_generator(self, func: Any) -> bool:
        known = self._drawing.get(func)
        if known is None:
            known = self._drawing[func] = torch.Tag.nondeterministic_seeded in func.tags
        return known


def _within_checkpoint() -> bool:
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if frame.f_code.co_filename == _CHECKPOINT:
            return True
        frame = frame.f_back
    return False


def _seed_python(draws: RandomDraws) -> None:
    """Seed `random` and its generators: each public call is one draw."""
    inside = _Once()
    kind: Any = random.Random
    methods = [
        name for name in random.__all__ if hasattr(random.Random, name) and name[0].islower()
    ]
    for name in methods:
        if name not in ("seed", "getstate", "setstate"):
            plain = getattr(random.Random, name)
            setattr(kind, name, inside.seeded(plain, draws, name, random.Random.seed))
            if getattr(getattr(random, name), "__self__", None) is not None:
                setattr(random, name, getattr(_random._inst, name))


def _seed_numpy(draws: RandomDraws) -> None:
    """Seed the functions of `numpy.random`, and generators that are made from now on."""
    numpy: Any = sys.modules["numpy"].random
    inside = _Once()
    legacy = numpy.mtrand._rand
    kept = ("seed", "get_state", "set_state")
    for name in dir(legacy):
        if name[0] != "_" and name not in kept and callable(getattr(legacy, name)):
            plain = getattr(type(legacy), name)
            if getattr(numpy, name, None) == getattr(legacy, name):
                setattr(numpy, name, inside.seeded(plain, draws, name, type(legacy).seed, legacy))
    numpy.RandomState = _keyed(numpy.RandomState, draws, inside, type(legacy).seed, kept)
    numpy.Generator = _keyed(numpy.Generator, draws, inside, _seed_generator, ("spawn",))
    default_rng = numpy.default_rng

    @wraps(default_rng)
    def keyed_rng(seed: Any = None) -> Any:
        return numpy.Generator(default_rng(seed).bit_generator)

    numpy.default_rng = keyed_rng


def _seed_generator(generator: Any, seed: int) -> None:
    bits = generator.bit_generator
    bits.state = type(bits)(seed).state


def _keyed(
    kind: Any, draws: RandomDraws, inside: _Once, seed: Callable[..., None], kept: tuple[str, ...]
) -> Any:
    """Return the class with every public method seeded."""
    methods = {
        name: inside.seeded(getattr(kind, name), draws, name, seed)
        for name in dir(kind)
        if name[0] != "_" and name not in kept and callable(getattr(kind, name))
    }
    return type(kind.__name__, (kind,), {**methods, "__module__": kind.__module__})


class _Once:
    """Seeds outermost calls only: a method that calls another is one draw."""

    def __init__(self) -> None:
        self._drawing = False

    def seeded(
        self,
        plain: Callable[..., Any],
        draws: RandomDraws,
        name: str,
        seed: Callable[..., None],
        owner: Any = None,
    ) -> Callable[..., Any]:
        """Return the method (the function, if it has an `owner`) with a seed before each call."""

        def call(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if self._drawing:
                return plain(instance, *args, **kwargs)
            self._drawing = True
            try:
                seed(instance, draws.seed(name))
                return plain(instance, *args, **kwargs)
            finally:
                self._drawing = False

        @wraps(plain)
        def method(instance: Any, *args: Any, **kwargs: Any) -> Any:
            return call(instance, args, kwargs)

        @wraps(plain)
        def function(*args: Any, **kwargs: Any) -> Any:
            return call(owner, args, kwargs)

        return method if owner is None else function


def seed_everything() -> None:
    """Seed every source of randomness with 0; a script's own seeds come later and win."""
    random.seed(0)
    torch.manual_seed(0)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
