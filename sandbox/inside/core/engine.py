"""Watches every call of `backward` and `autograd.grad`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
import torch.autograd.graph

from .backward_site import TracedBackward
from .budget import Budget, InstrumentTime
from .call_stack import standing
from .clock import CLOCK
from .frames import Json
from .graph import GraphTraversal, Root, executed, roots_of
from .parameters import KnownParameter
from .sampling import CallSampler
from .stamps import Stamps

_autograd: Any = torch.autograd  # its entry to the engine is private
ONE_ENTRY = hasattr(_autograd.graph, "_engine_run_backward")  # since torch 2.3


@dataclass(slots=True, kw_only=True)
class Call(TracedBackward):
    """One backward call: who asked for it, and what it traverses.

    `weights` are the gradients that the call was given for its `outputs`. `result` is what the
    engine returned, known once it has run. `received` are the parameters that
    got a gradient. Observers fill in that and the `names` for those who come after them. `frees`:
    the script let go of the graph, `closely`: the call is one of those that are looked at closely.
    """

    frame: FrameType | None
    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    weights: tuple[Any, ...]
    roots: list[Root]
    received: list[KnownParameter] = field(default_factory=list)
    result: Any = None
    frees: bool = True
    closely: bool = True
    _walk: GraphTraversal | None = None

    @property
    def walk(self) -> GraphTraversal:
        """Return what the engine runs; it is traversed where somebody asks."""
        if self._walk is None:
            self._walk = executed(self.roots, self.inputs)
        return self._walk


class Observer:
    """Something that looks at calls, and overrides what it wants to hear of. Its own errors never
    reach the script. `watches` says in the run's notes what it is for."""

    watches = "an instrument"
    glances = True  # whether calls that are not looked at closely concern it now

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
class WrappedEngine:
    """The wrapped engine.

    `keep_graphs` keeps the graph at every call, `freeing` at none of these lines; `make_graphs`
    makes one of what `autograd.grad` gives. `enough` is asked as each call begins, with the
    calls of each line so far: true ends the run. `budget` counts what observers cost.
    """

    stamps: Stamps
    observers: Sequence[Observer]
    budget: Budget = field(default_factory=Budget)
    attention: CallSampler = field(default_factory=lambda: CallSampler(always=True))
    keep_graphs: bool = False
    make_graphs: bool = False
    freeing: Collection[str] = ()
    enough: Callable[[Calls], bool] | None = None
    _original: Any = None
    _listeners: dict[str, list[tuple[InstrumentTime, Any]]] = field(default_factory=dict)
    _glancing: list[tuple[Observer, InstrumentTime]] = field(default_factory=list)
    _per_line: Calls = field(default_factory=Counter)
    _per_line_within: Calls = field(default_factory=Counter)
    _thread: threading.local = field(default_factory=threading.local)

    def install(self) -> None:
        """Take the place of the function through which torch enters its engine."""
        accounts = [(one, self.budget.account(one.watches)) for one in self.observers]
        for what in ("before", "after", "failed", "within"):
            inherited = getattr(Observer, what)
            self._listeners[what] = [
                (account, getattr(observer, what))
                for observer, account in accounts
                if getattr(type(observer), what) is not inherited
            ]
        inherited = Observer.glanced
        self._glancing = [one for one in accounts if type(one[0]).glanced is not inherited]
        if ONE_ENTRY:
            self._original = _autograd.graph._engine_run_backward
            self._enter_by(self.run)
        else:
            engine = _autograd.Variable._execution_engine
            self._original = engine.run_backward
            self._enter_by(EngineEntry(engine, self.run))

    def leave(self) -> None:
        """Give torch its own entry back: no further call is observed."""
        self._enter_by(self._original if ONE_ENTRY else self._original.__self__)

    @staticmethod
    def _enter_by(entry: Any) -> None:
        if ONE_ENTRY:
            _autograd.graph._engine_run_backward = entry
            _autograd._engine_run_backward = entry
        else:
            _autograd.Variable._execution_engine = entry

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
        asking, _ = standing()
        if outer is None or asking is outer.frame or _is_traced(outputs):
            return self._original(outputs, *args, **kwargs)
        call = self._begin(outputs, args, kwargs, self._per_line_within)
        if self.keep_graphs:
            args = (args[0], True, *args[2:])
        try:
            result = self._original(outputs, *args, **kwargs)
        except Exception as error:
            self._tell("within", call, error)
            raise
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
            self._failed(call, error)
            CLOCK.calls += 1
            raise
        finally:
            self.stamps.resume()
        call.result = result
        CLOCK.calls += 1
        if call.closely:
            self._tell("after", call)
        else:
            for observer, account in self._glancing:
                if observer.glances:
                    account.call(observer.glanced, call)
        return result

    def _failed(self, call: Call, error: Exception) -> None:
        if not call.closely:
            self.attention.wake()
            self._tell("before", call)
        self._tell("failed", call, error)

    def _begin(
        self, outputs: Sequence[Any], args: tuple[Any, ...], kwargs: Json, per_line: Calls
    ) -> Call:
        frame, stands = standing()
        iteration = per_line[stands.at] = per_line[stands.at] + 1
        n = CLOCK.calls + 1
        return Call(
            n=n,
            closely=self.attention.begin(n, iteration),
            frame=frame,
            standing=stands,
            iteration=iteration,
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
class EngineEntry:
    """The engine, whose `run_backward` is entered by way of `run_backward`."""

    engine: Any
    run_backward: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


innermost_transform = torch._C._functorch.peek_interpreter_stack


def _is_traced(outputs: Sequence[Any]) -> bool:
    """Return True if the tensors are symbolic: in a compiler's tracing or a transform."""
    for output in outputs:
        kind = type(output)
        if kind is not torch.Tensor and kind.__name__ in ("FakeTensor", "FunctionalTensor"):
            return True
    return innermost_transform() is not None
