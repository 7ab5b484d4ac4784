"""Watches every call of `backward` and `autograd.grad`."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
import torch.autograd.graph

from .budget import Account, Budget
from .frames import Json
from .graph import Root, Walk, executed, roots_of
from .parameters import Known
from .sampling import Attention
from .stamps import Clock, Stamps
from .standing import standing
from .visit import Visit

_autograd: Any = torch.autograd  # its entry to the engine is private
ONE_ENTRY = hasattr(_autograd.graph, "_engine_run_backward")  # since torch 2.3


@dataclass(slots=True, kw_only=True)
class Call(Visit):
    """One backward call: who asked for it, and what it traverses.

    `weights` are the gradients that the call was given for its `outputs`. `walk` is what the engine
    runs, and `result` what it returned, known once it has run. `received` are the parameters that
    got a gradient. Observers fill in that and the `names` for those who come after them. `frees`:
    the script let go of the graph, `closely`: the call is one of those that are looked at closely.
    """

    frame: FrameType | None
    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    weights: tuple[Any, ...]
    roots: list[Root]
    received: list[Known] = field(default_factory=list)
    walk: Walk = field(default_factory=Walk)
    result: Any = None
    frees: bool = True
    closely: bool = True


class Observer:
    """Something that looks at calls, and overrides what it wants to hear of. Its own errors never
    reach the script. `watches` says in the run's notes what it is for."""

    watches = "an instrument"

    def before(self, call: Call) -> None:
        """React before the engine runs."""

    def after(self, call: Call) -> None:
        """React after the engine has run."""

    def glanced(self, call: Call) -> None:
        """React after a call that is not looked at closely."""

    def failed(self, call: Call, error: Exception) -> None:
        """React to an error of the engine, or of what it ran; `before` was called, if only now."""

    def within(self, call: Call, error: Exception | None) -> None:
        """React to a call of the engine by a hook of the script; `error`: what that raised."""


Calls = Counter[tuple[str, int]]  # by file and line


class Stopped(BaseException):
    """Enough backward calls have been seen; the run ends well."""


@dataclass
class Engine:
    """The wrapped engine.

    `keep_graphs` keeps the graph at every call, `freeing` at none of these lines; `make_graphs`
    makes one of what `autograd.grad` gives. `enough` is asked as each call begins, with the
    calls of each line so far: true ends the run. `budget` counts what observers cost.
    """

    stamps: Stamps
    observers: Sequence[Observer]
    budget: Budget = field(default_factory=Budget)
    attention: Attention = field(default_factory=lambda: Attention(always=True))
    keep_graphs: bool = False
    make_graphs: bool = False
    freeing: Collection[str] = ()
    enough: Callable[[Calls], bool] | None = None
    _original: Any = None
    _listeners: dict[str, list[tuple[Account, Any]]] = field(default_factory=dict)
    _per_line: Calls = field(default_factory=Counter)
    _per_line_within: Calls = field(default_factory=Counter)
    _thread: threading.local = field(default_factory=threading.local)

    def install(self) -> None:
        """Take the place of the function through which torch enters its engine."""
        for what in ("before", "after", "glanced", "failed", "within"):
            inherited = getattr(Observer, what)
            self._listeners[what] = [
                (self.budget.account(observer.watches), getattr(observer, what))
                for observer in self.observers
                if getattr(type(observer), what) is not inherited
            ]
        if ONE_ENTRY:
            self._original = _autograd.graph._engine_run_backward
            _autograd.graph._engine_run_backward = self.run
            _autograd._engine_run_backward = self.run
        else:
            engine = _autograd.Variable._execution_engine
            self._original = engine.run_backward
            _autograd.Variable._execution_engine = Entered(engine, self.run)

    def run(self, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Run the engine as asked. Calls within a call (checkpoints) are part of it."""
        outer: Call | None = getattr(self._thread, "outer", None)
        if outer is not None or _is_traced(outputs):
            return self._within(outer, outputs, args, kwargs)
        if self.enough is not None and self.enough(self._per_line):
            raise Stopped
        call = self._thread.outer = self._begin(outputs, args, kwargs, self._per_line)
        try:
            return self._watched(call, outputs, args, kwargs)
        finally:
            self._thread.outer = None

    def _within(
        self, outer: Call | None, outputs: Sequence[Any], args: tuple[Any, ...], kwargs: Json
    ) -> Any:
        """Run a call within a call.

        One that the script asks for itself, in a hook or in a function of its own, is recorded with
        the outer one; it does not count as an iteration.
        """
        asking, _ = standing(sys._getframe(2))
        if outer is None or asking is outer.frame or _is_traced(outputs):
            return self._original(outputs, *args, **kwargs)
        call = self._begin(outputs, args, kwargs, self._per_line_within)
        if self.keep_graphs:
            args = (args[0], True, *args[2:])
        try:
            result = self._original(outputs, *args, **kwargs)
        except Exception as error:
            call.walk = executed(call.roots, call.inputs)
            self._tell("within", call, error)
            raise
        call.walk = executed(call.roots, call.inputs)
        self._tell("within", call, None)
        return result

    def _watched(
        self, call: Call, outputs: Sequence[Any], args: tuple[Any, ...], kwargs: Json
    ) -> Any:
        if self.freeing and call.line() in self.freeing and not call.create_graph:
            call.retain, call.frees = False, True
            args = (args[0], False, *args[2:])
        if call.closely:
            self._tell("before", call)
        if self.keep_graphs:
            makes = args[2] or (self.make_graphs and call.kind == "grad")
            args = (args[0], True, makes, *args[3:])
        if not call.create_graph:
            self.stamps.pause()  # errors then read as without stamps
        try:
            result = self._original(outputs, *args, **kwargs)
        except Exception as error:
            call.walk = executed(call.roots, call.inputs)
            self._failed(call, error)
            Clock.visits += 1
            raise
        finally:
            self.stamps.resume()
        call.walk = executed(call.roots, call.inputs)
        call.result = result
        Clock.visits += 1
        self._tell("after" if call.closely else "glanced", call)
        return result

    def _failed(self, call: Call, error: Exception) -> None:
        if not call.closely:
            self.attention.wake()
            self._tell("before", call)
        self._tell("failed", call, error)

    def _begin(
        self, outputs: Sequence[Any], args: tuple[Any, ...], kwargs: Json, per_line: Calls
    ) -> Call:
        frame, stands = standing(sys._getframe(2))
        line = (frame.f_code.co_filename, frame.f_lineno or 0) if frame else ("", 0)
        per_line[line] += 1
        n = Clock.visits + 1
        return Call(
            n=n,
            closely=self.attention.begin(n, per_line[line]),
            frame=frame,
            standing=stands,
            iteration=per_line[line],
            kind="backward" if kwargs.get("accumulate_grad", True) else "grad",
            retain=bool(args[1]) or self.keep_graphs,
            create_graph=bool(args[2]),
            frees=not args[1],
            outputs=tuple(outputs),
            weights=tuple(args[0] or ()),
            inputs=tuple(args[3] if len(args) > 3 else ()),
            roots=roots_of(outputs),
        )

    def _tell(self, what: str, *news: Any) -> None:
        for account, listener in self._listeners[what]:
            account.call(listener, *news)


@dataclass
class Entered:
    """The engine, whose `run_backward` is entered by way of `run_backward`."""

    engine: Any
    run_backward: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


_transform = torch._C._functorch.peek_interpreter_stack


def _is_traced(outputs: Sequence[Any]) -> bool:
    """Return True if the tensors are symbolic: in a compiler's tracing or a transform."""
    for output in outputs:
        kind = type(output)
        if kind is not torch.Tensor and kind.__name__ in ("FakeTensor", "FunctionalTensor"):
            return True
    return _transform() is not None
