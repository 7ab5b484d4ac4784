"""What invented calls give: values that depend on what the call was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from .context import Harness
from .engines import bare
from .lineage import flat
from .models import pattern
from .placeholders import Batches, Placeholder
from .tensors import SHAPE, marked

_KINDS = {"module": nn.Module, "optimizer": torch.optim.Optimizer, "batches": Batches}


class Outputs:
    """Makes the results of calls in one harness."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness

    def of(
        self, path: str, source: torch.Tensor, given: Sequence[Any] = (), weight: str = ""
    ) -> Any:
        """Return the result of a call.

        `source` is a number that holds all that it depends on; `weight` is the path of the model
        that was called, if one was. The second of several parts is like the second of the values
        `given`, and so on: a state.
        """
        made = self._parts(path, source, given)
        if isinstance(made, torch.Tensor):
            made._given_dims = max((t.dim() for t in flat(given)), default=0)  # type: ignore[attr-defined]
        return self.depending(made, given, weight)

    def depending(self, made: Any, given: Sequence[Any], weight: str = "") -> Any:
        """Return tensors that depend on the arguments: values of the script's engine, if it has
        one."""
        engine = self._harness.engine
        return made if engine is None else engine.made(made, given, weight)

    def carried(self, *values: Any) -> tuple[Any, ...]:
        """Return what a forward that the script omits computes from the values it passes on."""
        engine = self._harness.engine
        if engine is not None:
            return tuple(engine.made(bare(v), [v], "forward") for v in values)
        anchor = self._harness.known_models.anchor()
        return tuple(_moved(value, anchor) for value in values)

    def _parts(self, path: str, source: torch.Tensor, given: Sequence[Any]) -> Any:
        parts = self._harness.use(path).count
        if 1 < parts <= 8 and path not in self._harness.plan.shapes:
            each = [given[n] if n < len(given) else None for n in range(parts)]
            return tuple(
                one
                if self._is_kept(f"{path}[{n}]", one)
                else self._part(f"{path}[{n}]", source, one if n else None)
                for n, one in enumerate(each)
            )
        if given and self._is_kept(path, given[0]):
            return given[0]
        return self._part(path, source, next(_flat_tensors(given), None))

    def _is_kept(self, path: str, value: Any) -> bool:
        """Return True for a model, an optimizer or a loader that a call returns, wrapped: the
        text uses the result as one."""
        kind = _KINDS.get(self._harness.role(path))
        return kind is not None and isinstance(value, kind)

    def _part(self, path: str, source: torch.Tensor, like: Any = None) -> Any:
        plan, use = self._harness.plan, self._harness.use(path)
        if 1 < use.count <= 8:
            return self._parts(path, source, ())
        if isinstance(like, tuple | list) and like:
            return tuple(self._part(f"{path}[{n}]", source, one) for n, one in enumerate(like))
        if self._harness.role(path) == "holder" and (use.asked or use.keys):
            return Placeholder(path, source)
        if "backward" in use.methods or plan.kinds.get(path) == "loss":
            return source * 1.5
        if path in plan.whole and path.endswith("]") and not path.endswith("[0]"):  # no scores
            return self._harness.tensors.fresh(path)
        shape = plan.shapes.get(path)
        if shape is None:
            shape = list(like.shape) if isinstance(like, torch.Tensor) else SHAPE
        return marked(torch.sigmoid(source * pattern(shape)), path)


def _moved(value: Any, anchor: torch.Tensor) -> Any:
    """Return the value, or each part of it, made of what it was and of the models."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return torch.tanh(value * anchor)
    if isinstance(value, list | tuple):
        return type(value)(_moved(part, anchor) for part in value)
    return value


def _flat_tensors(given: Sequence[Any]) -> Iterator[torch.Tensor]:
    """Yield the arguments that are tensors of few dimensions: a result may be alike."""
    return (v for v in given if isinstance(v, torch.Tensor) and v.dim() in (1, 2))
