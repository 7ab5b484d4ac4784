"""The harness that the process is in, and what its parts need of it.

Invented values look for it here rather than hold it: whoever follows what a value holds finds only
what the text knows of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Protocol

import torch
from torch import nn

from .plan import ValuePlan
from .reading import Uses
from .uses import ValueUse


class AttributeSource(Protocol):
    """Gives what invented values, and objects of the script's classes, lack."""

    def of(self, path: str, name: str) -> Any: ...
    def missing(self, thing: Any, name: str) -> Any: ...
    def layers(self, owner: str, module: nn.Module) -> None: ...
    def called(self, path: str, args: Any, kwargs: Any) -> Any: ...


class CallResults(Protocol):
    """Makes the results of calls."""

    def of(
        self, path: str, source: torch.Tensor, given: Sequence[Any] = (), weight: str = ""
    ) -> Any: ...
    def depending(self, made: Any, given: Sequence[Any], weight: str = "") -> Any: ...


class EngineValues(Protocol):
    """Makes and finds the values of a hand-written engine."""

    def made(self, result: Any, given: Sequence[Any], path: str = "") -> Any: ...
    def values_in(self, given: Any, depth: int = 3) -> Iterator[Any]: ...


class KnownModels(Protocol):
    """Knows the models that the script makes or names."""

    def settle(self) -> None: ...
    def models(self) -> Iterator[tuple[str, nn.Module]]: ...
    def owner(self, path: str) -> nn.Module | None: ...
    def held_by(self, optimizer: str) -> list[nn.Parameter]: ...
    def parameters(self) -> list[nn.Parameter]: ...
    def anchor(self) -> torch.Tensor: ...
    def source(self, path: str = "") -> torch.Tensor: ...
    def begin_pass(self) -> None: ...


class NewTensors(Protocol):
    """Makes tensors without history."""

    def fresh(self, path: str) -> torch.Tensor: ...
    def shape_of(self, path: str) -> list[int]: ...


class Notes(Protocol):
    """Reports what replaces a name."""

    def note(self, path: str, kind: str, made: Any) -> None: ...


class Harness(Protocol):
    """Makes and remembers values by their path."""

    uses: Uses
    plan: ValuePlan
    searching: bool
    values: dict[str, Any]
    tell: Callable[[str, str, str], None]

    @property
    def attributes(self) -> AttributeSource: ...
    @property
    def engine(self) -> EngineValues | None: ...
    @property
    def outputs(self) -> CallResults: ...
    @property
    def known_models(self) -> KnownModels: ...
    @property
    def assumption_log(self) -> Notes: ...
    @property
    def tensors(self) -> NewTensors: ...

    def use(self, path: str) -> ValueUse: ...
    def role(self, path: str) -> str: ...
    def load(self, path: str, frame: FrameType | None) -> Any: ...
    def make(self, path: str, kind: str | None = None) -> Any: ...
    def keep_item(self, holder: object, path: str, item: str, value: Any) -> None: ...
    def base(self, path: str) -> type: ...


class CurrentHarness:
    """One harness at a time."""

    harness: Harness
