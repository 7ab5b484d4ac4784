"""Compares what layers that a script writes by hand give back with numerical derivatives.

A layer is a class with `forward`, of one array, and `backward`, of the gradient of its result; both
may leave what they compute in attributes (`output`, `dinputs`). Of each class the first such pair
of calls is kept. Once the script has ended, a copy is called again with entries moved. Only what
grows with the gradient that `backward` is given is compared: it may also be a derivative alone, add
the gradient of a penalty, or limit gradients. No faults are one positive factor (a mean over the
batch), a gradient that is passed on unchanged (the loss has the derivative), and a layer all of
whose gradients differ (it is given another one, such as that of what goes into its activation).
"""

from __future__ import annotations

import contextlib
import copy
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import FunctionType
from typing import Any

from ..core.frames import Json, file_name
from ..core.value_parts import attributes
from .graph_slopes import CLOSE, STEP, same

LARGEST = 1 << 16  # entries of an input, or of a parameter
ENTRIES = 16  # that are moved, spread over an array
SECONDS = 1.0  # for all layers
_MARKS = ("d", "g", "grad", "gradient", "delta", "grads", "gradients")


@dataclass(slots=True)
class LayerCall:
    """The first calls of a class: the layer as it was before `forward`, and both calls' arguments
    and results."""

    layer: Any
    given: Any
    made: Any
    asked: tuple[Any, ...] = ()
    returned: Any = None
    kept: dict[str, Any] = field(default_factory=dict)  # arrays that the layer held after it


class LayerGradients:
    """Keeps the first calls of each such class of the script, for `found`."""

    def __init__(self) -> None:
        self._calls: dict[type, LayerCall] = {}
        self._methods: dict[type, tuple[FunctionType, FunctionType]] = {}

    def observe(self, kind: Any, own: Mapping[str, Any]) -> None:
        """Take the place of a class's `forward` and `backward`, until each was called. `own` are
        the methods as the script defines them."""
        forward, backward = own.get("forward"), own.get("backward")
        if not isinstance(forward, FunctionType) or not isinstance(backward, FunctionType):
            return
        if forward.__code__.co_argcount != 2 or backward.__code__.co_argcount < 2:
            return
        self._methods[kind] = forward, backward
        pending: dict[int, LayerCall] = {}
        inner = kind.forward, kind.backward

        @wraps(forward)
        def of_input(layer: Any, *arguments: Any, **named: Any) -> Any:
            before = _copied(layer) if len(arguments) == 1 and _is_array(arguments[0]) else None
            given = arguments[0].copy() if before is not None else None
            returned = inner[0](layer, *arguments, **named)
            made = _result(layer, returned)
            if before is not None and _is_array(made):
                pending[id(layer)] = LayerCall(before, given, made.copy())
            return returned

        @wraps(backward)
        def of_gradient(layer: Any, *arguments: Any, **named: Any) -> Any:
            call = pending.pop(id(layer), None)
            asked = copy.deepcopy(arguments) if call is not None and not named else ()
            returned = inner[1](layer, *arguments, **named)
            if call is not None and asked and _is_array(asked[0]):
                if asked[0].shape == call.made.shape:
                    call.asked, call.kept = asked, dict(_arrays(layer))
                    call.returned = returned.copy() if _is_array(returned) else None
                    self._calls.setdefault(kind, call)
                    kind.forward, kind.backward = inner
            return returned

        kind.forward, kind.backward = of_input, of_gradient

    def found(self) -> Json | None:
        """Return the record of a wrong gradient; None if none is known to be."""
        until, unread = time.monotonic() + SECONDS, io.StringIO()
        for kind, call in self._calls.items():
            with (
                contextlib.suppress(Exception, SystemExit),  # the script may raise anything
                contextlib.redirect_stdout(unread),
                contextlib.redirect_stderr(unread),
            ):
                found = LayerComparison(call, self._methods[kind], until).found()
                if found is not None:
                    return found
        return None


class LayerComparison:
    """The comparison of one layer's calls."""

    def __init__(
        self, call: LayerCall, methods: tuple[FunctionType, FunctionType], until: float
    ) -> None:
        self._call = call
        self._forward: Callable[..., Any] = methods[0]
        self._backward: Callable[..., Any] = methods[1]
        self._until = until

    def found(self) -> Json | None:
        """Return the record of a gradient that differs; None if none is known to."""
        call = self._call
        again = self._with_input(call.given)
        if not same(again, call.made) or time.monotonic() > self._until:
            return None  # it draws random numbers, or is slow
        compared = [*self._compared()]
        wrong = next((one for one in compared if one[2] is not None), None)
        trusted = len(compared) == 1 and not any(True for _ in _arrays(call.layer))
        if wrong is None or not (trusted or any(one[2] is None for one in compared)):
            return None
        owner, held, figures = wrong
        code = self._backward.__code__
        at = {"file": file_name(code.co_filename), "line": code.co_firstlineno}
        fields: Json = {"at": at, "function": self._backward.__qualname__, "input": owner}
        return {**fields, "detail": "layer", "gradient": held, "figures": figures}

    def _compared(self) -> Iterator[tuple[str, str, list[float] | None]]:
        """Yield each gradient that can be compared: of what, where it is held ("" if it is
        returned), and the slope and the gradient where they differ, None if they do not."""
        call, twice = self._call, copy.deepcopy(self._call.layer)
        self._forward(twice, call.given.copy())
        returned = self._backward(twice, 2 * call.asked[0], *call.asked[1:])
        grown, argument = dict(_arrays(twice)), self._forward.__code__.co_varnames[1]
        held = self._gradient_of(argument, call.given) if call.returned is None else ""
        one, two = (call.kept.get(held), grown.get(held)) if held else (call.returned, returned)
        if one is not None and two is not None and one.shape == call.given.shape:
            if same(two, 2 * one) and not _is_same(one, call.asked[0]):
                pairs = [*self._pairs(call.given, one, self._with_input)]
                if len(pairs) > 1:
                    yield argument, f"self.{held}" if held else "", _differing(pairs)
        for name, value in _arrays(call.layer):
            given = self._gradient_of(name, value)
            if given and given in grown and same(grown[given], 2 * call.kept[given]):
                pairs = [*self._pairs(value, call.kept[given], self._with_parameter(name))]
                if len(pairs) > 1:
                    yield f"self.{name}", f"self.{given}", _differing(pairs)

    def _gradient_of(self, name: str, value: Any) -> str:
        """Return the attribute that holds the gradient of another, by name and shape; "" if none or
        several may."""
        plain = _plain(name)
        held = [other for other, one in self._call.kept.items() if one.shape == value.shape]
        fit = [o for o in held if plain in _plain(o) and _plain(o).replace(plain, "", 1) in _MARKS]
        return fit[0] if len(fit) == 1 else ""

    def _pairs(
        self, value: Any, given: Any, moved: Callable[[Any], Any]
    ) -> Iterator[tuple[float, float]]:
        for number in sorted({i * (value.size - 1) // (ENTRIES - 1) for i in range(ENTRIES)}):
            if time.monotonic() > self._until:
                return
            step = STEP * max(1.0, abs(float(value.flat[number])))
            sums = []
            for by in (-step, 0.0, step):
                shifted = value.copy()
                shifted.flat[number] += by
                sums.append(float((moved(shifted) * self._call.asked[0]).sum()))
            left, right = (sums[1] - sums[0]) / step, (sums[2] - sums[1]) / step
            if _agree(left, right):
                wanted = (sums[2] - sums[0]) / (2 * step)
                yield (0.0 if _agree(wanted, 0.0) else wanted), float(given.flat[number])

    def _with_input(self, given: Any) -> Any:
        layer = copy.deepcopy(self._call.layer)
        return _result(layer, self._forward(layer, given.copy()))

    def _with_parameter(self, name: str) -> Callable[[Any], Any]:
        def moved(value: Any) -> Any:
            layer = copy.deepcopy(self._call.layer)
            setattr(layer, name, value)
            return _result(layer, self._forward(layer, self._call.given.copy()))

        return moved


def _differing(pairs: Sequence[tuple[float, float]]) -> list[float] | None:
    """Return the pair of a slope and a gradient that differs most; None if all agree, but for one
    positive factor."""
    factors = [held / slope for slope, held in pairs if slope]
    zeros_agree = all(_agree(slope, held) for slope, held in pairs if not slope)
    scaled = not factors or (min(factors) > 0 and max(factors) <= (1 + CLOSE) * min(factors))
    if zeros_agree and scaled:
        return None
    slope, held = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
    return [slope, held + 0.0]  # not -0.0


def _result(layer: Any, returned: Any) -> Any:
    """Return what a forward has computed."""
    return getattr(layer, "output", None) if returned is None else returned


def _is_same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and same(one, other)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _agree(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other)) + 1e-7


def _is_array(value: Any) -> bool:
    """Return True for an array of numbers in double precision that is not too large."""
    if not hasattr(value, "__array_interface__") or getattr(value, "ndim", 0) == 0:
        return False
    return str(value.dtype) == "float64" and 0 < value.size <= LARGEST


def _arrays(layer: Any) -> Iterator[tuple[str, Any]]:
    for name, value in attributes(layer):
        if _is_array(value):
            yield name, value.copy()


def _copied(layer: Any) -> Any:
    """Return a deep copy; None if it is too large, or cannot be made."""
    if sum(getattr(value, "size", 0) for _, value in attributes(layer)) > 8 * LARGEST:
        return None
    with contextlib.suppress(Exception):
        return copy.deepcopy(layer)
    return None
