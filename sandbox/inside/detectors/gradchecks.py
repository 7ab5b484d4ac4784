"""Compares what the script's own Functions give back with numerical derivatives of their forward,
by `torch.autograd.gradcheck`, once the script has ended."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.gradcheck import GradcheckError, gradcheck

from ..core.engine import innermost_transform
from ..core.frames import Json, file_name, is_user_class

CLASSES = 16  # that are compared
LARGEST = 1 << 16  # numbers in all inputs of a call
SLOW = 256  # numbers, up to which every entry of the Jacobian is compared
_MISMATCH = re.compile(r"Jacobian mismatch for output \d+ with respect to input (\d+)")
_function: Any = torch.autograd.Function


@dataclass(slots=True)
class _Applied:
    """The first call of a Function: its arguments, tensors copied."""

    kind: Any
    arguments: list[Any]

    @property
    def asked(self) -> list[int]:
        """Return the positions of the arguments that get a gradient."""
        return [i for i, one in enumerate(self.arguments) if _wants_gradient(one)]

    def name(self, position: int) -> str:
        """Return what `forward` calls an argument."""
        names = list(inspect.signature(self.kind.forward).parameters)
        own = self.kind.setup_context is not _function.setup_context
        names = names if own else names[1:]
        return names[position] if position < len(names) else f"argument {position + 1}"


class Gradchecks:
    """Keeps the first call of each Function of the script, for `found`."""

    def __init__(self) -> None:
        self._calls: dict[type, _Applied] = {}

    def install(self) -> None:
        """Take the place of `Function.apply`."""
        own, note = _function.apply.__func__, self._note

        def apply(kind: Any, *arguments: Any, **keywords: Any) -> Any:
            if not keywords:
                note(kind, arguments)
            return own(kind, *arguments, **keywords)

        _function.apply = classmethod(apply)

    def _note(self, kind: type, arguments: tuple[Any, ...]) -> None:
        if kind in self._calls or len(self._calls) >= CLASSES or not is_user_class(kind):
            return
        if innermost_transform() is not None:  # a transform refuses `requires_grad_` inside of it
            return
        tensors = [one for one in arguments if isinstance(one, torch.Tensor)]
        if any(map(_wants_gradient, tensors)) and sum(t.numel() for t in tensors) <= LARGEST:
            self._calls[kind] = _Applied(kind, [_copied(one) for one in arguments])

    def found(self) -> Iterator[Json]:
        """Yield a record for each Function: `same`, `differs` with the first input that does, or
        `unknown` where torch cannot compare it."""
        for call in self._calls.values():
            shown = {"t": "gradcheck", "function": call.kind.__name__, **_lines(call.kind)}
            yield {**shown, **_compared(call)}


def _lines(kind: Any) -> Json:
    """Return where the methods of a Function are."""
    codes = [method.__code__ for method in (kind.forward, kind.backward)]
    first = min(code.co_firstlineno for code in codes)
    last = max(line or 0 for code in codes for _, _, line in code.co_lines())
    at = {"file": file_name(codes[1].co_filename), "line": first}
    return {"at": at, "end_line": last}


def _compared(call: _Applied) -> Json:
    """Return how the gradients of a call compare, in double precision, as `gradcheck` needs."""
    asked = call.asked
    inputs = [call.arguments[i].double().requires_grad_() for i in asked]

    def applied(*given: torch.Tensor) -> Any:
        arguments = [_doubled(one) for one in call.arguments]
        for position, one in zip(asked, given, strict=True):
            arguments[position] = one
        return call.kind.apply(*arguments)

    fast = sum(one.numel() for one in inputs) > SLOW
    try:
        with torch.enable_grad():
            gradcheck(applied, inputs, fast_mode=fast, check_undefined_grad=False)
    except GradcheckError as error:
        mismatch = _MISMATCH.search(str(error))
        if mismatch is not None and int(mismatch[1]) < len(asked):
            return {"outcome": "differs", "input": call.name(asked[int(mismatch[1])])}
        return {"outcome": "unknown", "text": str(error)[:300]}
    except Exception as error:
        return {"outcome": "unknown", "text": f"{type(error).__name__}: {error}"[:300]}
    return {"outcome": "same"}


def _wants_gradient(argument: Any) -> bool:
    is_float = isinstance(argument, torch.Tensor) and argument.is_floating_point()
    return is_float and bool(argument.requires_grad)


def _copied(argument: Any) -> Any:
    if not isinstance(argument, torch.Tensor):
        return argument
    return argument.detach().clone().requires_grad_(argument.requires_grad)


def _doubled(argument: Any) -> Any:
    is_float = isinstance(argument, torch.Tensor) and argument.is_floating_point()
    return argument.detach().double() if is_float else argument
