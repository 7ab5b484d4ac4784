"""Explains errors about a graph or a gradient that is not there."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from ..core import frames
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..core.operands import Instruction, operands
from ..core.stamps import Stamps
from ..core.value_names import Name
from ..recorders.graph_ends import GraphEnd
from ..recorders.graph_losses import LossLog
from . import ddp, failure
from .grad_scaler import explained as unscaled_gradients

Subject = tuple[Name | None, torch.Tensor]

NO_GRAPH = "does not require grad"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
UNUSED = "appears to not have been used in the graph"
NUMPY = "Can't call numpy() on Tensor that requires grad"
DEEPCOPY = "support the deepcopy protocol"
NONLEAF_FLAG = "change requires_grad flags of leaf"
NONLEAF_OPTIMIZED = "can't optimize a non-leaf"
BARE = "the backward begins at a leaf: there is no graph behind it"
OFTEN = 2  # calls
_AT_INDEX = re.compile(r"Tensor at index (\d+) appears")  # as of torch 2.1
NONLEAF_GRAD = "The .grad attribute of a Tensor that is not a leaf"


class MissingWatch(Observer):
    """Reports what the failing expression denoted, and where its graph was lost if known."""

    def __init__(self, emitter: Emitter, stamps: Stamps, log: LossLog | None) -> None:
        self._emitter = emitter
        self._stamps = stamps
        self._log = log
        self._call: Call | None = None
        self._warned: Json | None = None
        self._bare: Json | None = None
        self._bare_calls = 0
        self._index: int | None = None  # of the input that the error speaks of

    def install(self) -> None:
        """Intercept the warning that torch gives if a script reads `.grad` of a non-leaf."""
        show = warnings.showwarning

        def hearing(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if NONLEAF_GRAD in str(message) and self._warned is None:
                frame = frames.user_frame(sys._getframe(1))
                if frame is not None:
                    self._warned = self._warning(str(message), frame)
            show(message, category, *place, **more)

        warnings.showwarning = hearing

    def after(self, call: Call) -> None:
        """Note a loss that is a leaf: it was given a flag, and no graph."""
        if call.kind != "backward" or call.roots or len(call.outputs) != 1:
            return
        (loss,) = call.outputs
        self._bare_calls += 1
        ended = self._log.of(loss) if self._log is not None and self._bare is None else None
        if ended is not None:
            search = ReferrerSearch(lambda t: t is loss, leaves=True)
            backward_call = call.record()
            self._bare = {
                "t": "missing",
                "message": BARE,
                "at": backward_call["at"],
                "stack": backward_call["stack"],
                "holders": [n.record("now") for n, _ in search.around(call.frame)][:32],
                "how": ended.how,
                "ended_at": ended.at,
                "ended_stack": list(ended.stack),
                "op": ended.op,
            }

    def failed(self, call: Call, error: Exception) -> None:
        """Keep the call: its outputs and inputs are what the error is about."""
        self._call = call

    def explain(self, error: BaseException) -> bool:
        """Tell the error that ended the script; false if it is another kind."""
        if (unscaled := unscaled_gradients(error, self._log, self._bare)) is not None:
            self._emitter.emit(unscaled)
            return True
        places = failure.user_entries(error)
        if not places:
            return False
        spot = Instruction.of_entry(places[-1])
        about = self._about_number(error, spot)
        if about is None and (found := self._subjects(error, spot)) is not None:
            about = self._about(*found)
        if about is None:
            return False
        self._emitter.emit(
            {
                "t": "missing",
                "message": str(error),
                "at": failure.place_of(places[-1]),
                "stack": [failure.place_of(entry) for entry in places][-40:],
                **about,
            }
        )
        return True

    def _about_number(self, error: BaseException, spot: Instruction) -> Json | None:
        """Return a record of a number or an array that was to go backward: it left torch before."""
        if not isinstance(error, AttributeError) or error.name != "backward":
            return None
        value = error.obj
        if not isinstance(value, float | int) and not hasattr(value, "__array_interface__"):
            return None
        ended = self._log.of_value(value) if self._log is not None else None
        return {
            "holders": [n.record("now") for n, held in operands(spot) if held is value][:32],
            "how": "item" if isinstance(value, float | int) else "numpy",
            "ended_at": ended.at if ended is not None else None,
            "op": ended.op if ended is not None else "",
        }

    def explain_warning(self) -> None:
        """Tell the warning, when nothing worse ended the script."""
        if self._warned is not None:
            self._emitter.emit(self._warned)

    def explain_bare(self) -> None:
        """Tell the loss that was a leaf again and again, where nothing that is trained learns."""
        if self._bare is not None and self._bare_calls >= OFTEN:
            self._emitter.emit(self._bare)

    def _warning(self, message: str, frame: Any) -> Json:
        held = [(n, t) for n, t in _tensors(operands(Instruction.of_frame(frame))) if not t.is_leaf]
        return {
            "t": "missing",
            "message": message,
            "at": frames.place(frame),
            "stack": frames.stack(frame),
            **self._about("nonleaf", held),
        }

    def _subjects(
        self, error: BaseException, spot: Instruction
    ) -> tuple[str, list[Subject]] | None:
        """Return the kind of fault in one word, and the tensors concerned, best first."""
        text = str(error)
        if ddp.UNFINISHED in text:
            scope = frames.function_name(spot.frame.f_code)
            named = ddp.concerned(error)
            return "unused", [(Name(scope, name, "attribute"), held) for name, held in named]
        if isinstance(error, TypeError | AttributeError) and "NoneType" in text:
            return _gradless(spot)
        found = _AT_INDEX.search(text)
        self._index = int(found[1]) if found is not None else None
        if not isinstance(error, RuntimeError | ValueError | TypeError):
            return None
        wanted: list[tuple[str, str, Callable[[torch.Tensor], bool]]] = [
            (NOT_SCALAR, "non_scalar", lambda t: t.requires_grad and t.numel() != 1),
            (UNUSED, "unused", self._is_unused),
            (NO_GRAPH, "unknown", lambda t: not t.requires_grad),
            (NUMPY, "numpy", lambda t: t.requires_grad),
            (NONLEAF_FLAG, "nonleaf", lambda t: not t.is_leaf),
            (NONLEAF_OPTIMIZED, "nonleaf", lambda t: not t.is_leaf),
            (DEEPCOPY, "deepcopy", lambda t: not t.is_leaf),
        ]
        for fragment, how, concerned in wanted:
            if fragment in text:
                return how, list(self._concerned(spot, concerned))
        return None

    def _concerned(
        self, spot: Instruction, concerned: Callable[[torch.Tensor], bool]
    ) -> Iterator[Subject]:
        """Yield tensors in the failing expression, in what it names, and in the failing call."""
        direct, inside = self._held_by(list(operands(spot, around=False)), concerned)
        if not direct and not inside:
            direct, inside = self._held_by(list(operands(spot)), concerned)
        yield from (*direct, *inside)
        if self._call is not None:
            given = (*self._call.inputs, *self._call.outputs)
            seen = {id(tensor) for _, tensor in direct}
            for tensor in given:
                if isinstance(tensor, torch.Tensor) and id(tensor) not in seen:
                    yield from ((None, t) for t in [tensor] if concerned(t))

    @staticmethod
    def _held_by(
        named: list[tuple[Name, Any]], concerned: Callable[[torch.Tensor], bool]
    ) -> tuple[list[Subject], list[Subject]]:
        """Return the named tensors themselves; if there are none, those within named values."""
        direct: list[Subject] = [(n, t) for n, t in _tensors(iter(named)) if concerned(t)]
        search = ReferrerSearch(concerned, budget=5000, depth=4, deep=True, leaves=True)
        inside = [s for n, value in named if not direct for s in search.inside(n, value)]
        return direct, [(name, tensor) for name, tensor in inside]

    def _is_unused(self, tensor: torch.Tensor) -> bool:
        """Return True if the failing call was asked for this gradient and found no path to it."""
        if self._call is None or not any(tensor is given for given in self._call.inputs):
            return False
        if self._index is not None and self._index < len(self._call.inputs):
            return tensor is self._call.inputs[self._index]
        nodes = self._call.walk.nodes
        leaves = [leaf.variable for _, leaf in self._call.walk.leaves]
        return tensor.grad_fn not in nodes and not any(tensor is leaf for leaf in leaves)

    def _about(self, how: str, subjects: Sequence[Subject]) -> Json:
        ended = next((e for _, t in subjects if (e := self._ended(t)) is not None), None)
        if ended is not None and how in ("unknown", "leaf"):
            how = ended.how
        if ended is not None and how == "unused" and ended.how != "nonleaf":
            how = "starved"
        shape = [int(n) for n in subjects[0][1].shape] if subjects else []
        return {
            "holders": [name.record("now") for name, _ in subjects if name is not None][:32],
            "ended_at": ended.at if ended is not None else None,
            "ended_stack": list(ended.stack) if ended is not None else [],
            "op": ended.op if ended is not None else "",
            "how": how,
            "shape": shape[:16],
        }

    def _ended(self, tensor: torch.Tensor) -> GraphEnd | None:
        """Return where the tensor's graph ended.

        For a tensor with a graph, return where it was made; for a leaf, where what derives from it
        lost its graph.
        """
        if tensor.grad_fn is not None:
            stamp = self._stamps.of(tensor.grad_fn)
            made = stamp.at if stamp is not None else None
            return GraphEnd(made, "nonleaf", str(tensor.grad_fn.name()))
        if self._log is None:
            return None
        learns = tensor.is_leaf and tensor.requires_grad
        return self._log.of_leaf(tensor) if learns else self._log.of(tensor)


def _tensors(values: Iterator[tuple[Name, Any]]) -> Iterator[tuple[Name, torch.Tensor]]:
    seen: set[str] = set()
    for name, value in values:
        if isinstance(value, torch.Tensor) and name.path not in seen:
            seen.add(name.path)
            yield name, value


def _gradless(spot: Instruction) -> tuple[str, list[Subject]] | None:
    """Return tensors whose `.grad`, read in the failing expression, is None."""
    named = list(operands(spot))
    empty = {
        n.path.removesuffix(".grad") for n, v in named if v is None and n.path.endswith(".grad")
    }
    found = [(n, t) for n, t in _tensors(iter(named)) if n.path in empty]
    if not found:
        return None
    first = found[0][1]
    how = "nonleaf" if not first.is_leaf else "unused" if first.requires_grad else "leaf"
    return how, list(found)
