"""Observes autograd engines that a script writes by hand.

A class of the user that defines `backward` and whose instances hold others of their kind is such an
engine; so is one with arithmetic of its own, and a method or function that leaves gradients in what
its instances were made from; so is a tape: a class whose `backward` is given an instance of a class
with arithmetic. Until an instance was made of another, no other function is an engine's; and the
cost of finding out is limited. A second backward call is then reported as for torch.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..core import frames
from ..core.budget import InstrumentTime, now
from ..core.emitter import Emitter
from ..core.frames import Json
from ..core.parameters import ParameterRegistry
from ..core.standing_in import call_as
from .backward_functions import (
    BackwardFunction,
    computes,
    functions_in,
    is_alone,
    is_foreign,
    is_operation,
    tapes_of,
    walkers_of,
)
from .backward_record import EngineBackward
from .engine_calls import EngineCalls
from .graph_restoration import GraphRestoration, cut_off
from .instance_log import Allotment, Allotting
from .instances import Instances, makes_from
from .layer_gradients import LayerGradients
from .leaf_steps import LeafSteps
from .numerical_gradients import wrong_gradient
from .operation_log import OperationLog
from .uncleared_leaves import UnclearedLeaves

_builtins: Any = builtins


class EngineWatch:
    """Wraps the classes as they are made; reports backward calls, and the first second use.

    With a `reference` graphs are restored after each call, and for `truncated` what was reached
    before is cut off ahead of it. With `steps`, what leaves gather is reported. One that `compares`
    keeps what the first call went through, for `wrong_gradient`.
    """

    def __init__(
        self,
        emitter: Emitter,
        parameters: ParameterRegistry,
        account: InstrumentTime,
        steps: LeafSteps | None = None,
        reference: str = "",
        judges: bool = False,
        compares: bool = False,
    ) -> None:
        self.steps = steps
        self._account = account
        self._limited, account.limited = account.limited, True  # until it is known
        account.take_off = self._take_off
        self._undo: list[Callable[[], None]] = []
        self._reference = reference
        self._parameters = parameters
        self._instances = Instances()
        self._uncleared = UnclearedLeaves(emitter, parameters) if judges else None
        self._log = OperationLog(self._instances) if compares and judges else None
        self._layers = LayerGradients() if compares and judges else None
        self._calls = EngineCalls(
            emitter, parameters, self._instances, self._outside, steps, self._uncleared
        )
        self._codes: dict[int, CodeType] = {}  # of their methods, by id: codes are slow to hash
        self._walk: EngineBackward | None = None
        self._armed = False  # once something may run backward
        self._derived = False  # once an instance was made of others
        self._settled = False  # once it is known what runs backward
        self._adopted: dict[int, int] = {}  # how many names there were in globals looked through
        self._functions: dict[FunctionType, BackwardFunction] = {}

    def install(self) -> None:
        """Look at every class that the user's code defines from now on."""
        build: Any = _builtins.__build_class__

        def building(function: Any, name: str, *bases: Any, **more: Any) -> Any:
            made = call_as(sys._getframe(1), partial(build, function, name, *bases, **more))
            if isinstance(made, type) and not self._account.closed and is_foreign(made):
                self._observe(made, alone=is_alone(function.__globals__))
            return made

        _builtins.__build_class__ = building

    def wrong_gradient(self) -> Json | None:
        """Return the record of a gradient that differs from the numerical one, once the script has
        ended; None if none is known to, or if a second backward call is what raised."""
        if self._log is None or self._layers is None or self._calls.raised:
            return None
        found = wrong_gradient(self._log) if self._log.ended else self._layers.found()
        if found is None:
            return None
        number = self._calls.ids.get(self._instances.number(found.pop("leaf", None)))
        names = [one.name for one in self._parameters.known if one.id == number and one.name]
        return {"t": "silent", "kind": "wrong-gradients", **found, "params": names}

    def _observe(self, kind: type, *, alone: bool) -> None:
        walkers = walkers_of(kind, alone=alone)
        known = any(walker.known for walker in walkers.values())
        if known or computes(kind):
            self._instances.kinds = (*self._instances.kinds, kind)
            methods = [f.__code__ for f in vars(kind).values() if isinstance(f, FunctionType)]
            self._codes |= {id(code): code for code in methods}
        elif alone:  # its instances may turn out to be made from each other
            self._instances.possible.add(kind)
        else:
            return
        self._armed |= bool(walkers)
        if known:
            self._settle()
        owner: Any = kind
        if "__init__" in vars(kind):
            self._undo.append(partial(setattr, owner, "__init__", owner.__init__))
            owner.__init__ = self._making(owner.__init__)
        elif not isinstance(owner.__new__, Allotment):  # a decorator's, yet to come, or a base's
            owner.__new__ = Allotting(owner.__new__, self._note)
        own = dict(vars(kind))
        for name, walker in walkers.items():
            setattr(owner, name, self._watched(walker))
            walker.undo.append(partial(setattr, owner, name, walker.function))
            self._undo.append(walker.dismiss)
        if known and self._layers is not None:
            self._layers.observe(kind, own)

    def _settle(self) -> None:
        """Record that it is known what runs backward."""
        self._settled = self._instances.settled = True
        self._account.limited = self._limited

    def _take_off(self) -> None:
        """Look at nothing any more."""
        self._armed = False
        for undo in self._undo:
            undo()

    def _making(self, init: Any) -> Any:
        @wraps(init)
        def wrapper(instance: Any, *args: Any, **kwargs: Any) -> None:
            self._note(instance, sys._getframe(1), (*args, *kwargs.values()))
            init(instance, *args, **kwargs)

        return wrapper

    def _adopt(self, frame: FrameType | None) -> None:
        """Wrap the functions next to an engine's class that may run backward over its instances."""
        module_names = frame.f_globals if frame is not None else {}
        if self._adopted.get(id(module_names)) == len(module_names):
            return
        self._adopted[id(module_names)] = len(module_names)
        for name, function in functions_in(module_names):
            walker = self._functions.setdefault(function, BackwardFunction(function, method=False))
            if not walker.dismissed:
                self._armed = True
                module_names[name] = self._watched(walker)
                walker.undo.append(partial(module_names.__setitem__, name, function))
                self._undo.append(walker.dismiss)

    def _note(self, instance: Any, frame: FrameType | None, of: Sequence[Any]) -> None:
        """Record an instance that is being made at a frame, of these arguments."""
        if self._account.closed:
            return
        began = now()
        if not self._settled:
            self._adopt(frame)
        if self._armed and self._instances.of(instance) is None:
            self._add(instance, frame)
            self._derived = self._derived or self._instances.any_in(of)
        self._account.charge(began)

    def _add(self, instance: Any, frame: FrameType | None) -> None:
        maker = frames.user_frame(frame)
        given = makes_from(maker, self._instances) if maker is not None else False
        outside = self._outside(maker.f_back if maker is not None and given else frame)
        while outside is not None and is_operation(outside):
            outside = frames.user_frame(outside.f_back)
        at = frames.place(outside) if outside is not None else None
        op = maker.f_code.co_name if maker is not None and maker is not outside else ""
        self._derived |= given
        self._instances.add(instance, at, op)
        if self._log is not None and given and maker is not None:
            self._log.note(instance, maker)

    def _outside(self, frame: FrameType | None) -> FrameType | None:
        """Return the innermost user frame that is no method of an engine; else the outermost
        method."""
        last = None
        for last in frames.user_frames(frame):
            if id(last.f_code) not in self._codes:
                return last
        return last

    def _watched(self, walker: BackwardFunction) -> Any:
        @wraps(walker.function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if walker.dismissed or not (walker.known or self._derived):
                return walker.function(*args, **kwargs)
            began = now()
            given = self._given(walker, (*args, *kwargs.values()))
            if walker.dismissed or not given:
                self._account.charge(began)
                return walker.function(*args, **kwargs)
            if self._walk is not None and not self._gives_way(self._walk, given[0]):
                self._walk.entered = given[0]
                return walker.function(*args, **kwargs)
            root = self._root(given[0], given[1:]) if walker.method else given[0]
            walk = self._walk = self._calls.begin(walker, root, sys._getframe(1))
            self._prepare(walk, given[0])
            self._account.charge(began)
            try:
                result = walker.function(*args, **kwargs)
            except Exception as error:
                if walker.known:
                    self._calls.failed(walk, error)
                raise
            finally:
                self._walk = None
                if self._uncleared is not None and not walker.known:
                    self._uncleared.release()
            began = now()
            if walker.judge(walk.received, result if walk.recorded else None):
                self._settle()
                if self._log is not None:
                    self._log.end(walker.function)
                self._calls.done(walk)
            self._account.charge(began)
            return result

        return wrapper

    def _given(self, walker: BackwardFunction, values: Sequence[Any]) -> Sequence[Any]:
        """Return what a call may start from: a method's own object first, or the newest
        instance."""
        of, is_node = self._instances.of, self._instances.is_node
        if walker.known and walker.method and isinstance(values[0], self._instances.kinds):
            return values
        if any(of(value) is not None for value in values[walker.method :]):
            for tape in tapes_of(walker, values[0]):
                self._instances.learn(tape)
        nodes = [value for value in values if is_node(value)]
        if not nodes:
            walker.miss()
        if walker.method:
            return values if walker.known or (nodes and of(values[0]) is not None) else ()
        return sorted(nodes, key=self._instances.number, reverse=True)

    def _gives_way(self, walk: EngineBackward, instance: Any) -> bool:
        """Return True if the call in progress is no backward, as it makes the present root."""
        if walk.walker.known or self._instances.number(instance) <= walk.begun:
            return False
        walk.walker.dismiss()
        return True

    def _prepare(self, walk: EngineBackward, driver: Any) -> None:
        """Tell what leaves have gathered; for a reference, note the graph, and cut it off from
        its past."""
        if walk.received is None:
            return
        if self._log is not None:
            self._log.begin(walk.root, walk.nodes)
        if self.steps is not None:
            self.steps.before()
            walk.stale = self.steps.stale(walk.nodes, self._instances, self._calls.ids)
        if self._uncleared is not None:
            self._uncleared.before(walk.received)
        if self._reference:
            others = [] if any(node is driver for node in walk.nodes) else [driver]
            walk.rewind = GraphRestoration([*others, *walk.nodes], self._instances.kinds)
        if self._reference == "truncated" and walk.walker.known:
            leaves = [node for node in walk.nodes if id(node) in walk.leaves]
            past = [node for node in walk.nodes if self._instances.visited_by(node)]
            cut_off(past, leaves, self._instances)

    def _root(self, instance: Any, given: Sequence[Any]) -> Any:
        """Return the root: the instance; or, if that only drives, a node that it is given."""
        nodes = [value for value in given if self._instances.is_node(value)]
        if not nodes or type(nodes[0]) is type(instance) or computes(type(instance)):
            return instance
        self._instances.kinds = tuple(k for k in self._instances.kinds if k is not type(instance))
        return nodes[0]
