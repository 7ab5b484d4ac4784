"""Where graphs ended, as the slower run sees it, and which ended terms a sum has."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch
from torch.distributions import Distribution
from torch.nn import Parameter

from ..core import frames
from ..core.frames import Json

MANY = 512  # leaves that one end of a graph speaks for
REACHED = "gradmend: reached"  # a node's metadata: after which step a call reached it
CUTS = {"data", "detach", "detach_", "item", "numpy", "tolist"}
COPIES = {"tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor"}
CUT_TERM = "gradmend: where a term lost its graph"  # a node's metadata: an `GraphEnd`


@dataclass(frozen=True, eq=False)
class GraphEnd:
    """Where a graph ended, and by what: `how` is a call's name, `data`, `no_grad`, `inference` or
    `frozen`.

    `reached`: an earlier backward call reached all of it. `by_library`: torch has cut it, where the
    script's line asks for a module's state. `derived`: a derivative by what no training moves;
    `mixed`: in a function that gives others a graph of their own. `discrete`: what went on are
    whole numbers, such as an action or an index, which have no gradient anyhow. `sampled`: by
    `sample()` of a distribution whose `rsample()` would have kept it.
    """

    at: Json | None
    how: str
    op: str
    stack: tuple[Json, ...] = ()  # outermost first, where recording was off: somewhere on the way
    leaves: tuple[weakref.ref[torch.Tensor], ...] = ()  # that fed the graph, as far as was looked
    reached: bool = False
    by_library: bool = False
    derived: bool = False
    mixed: bool = False
    discrete: bool = False
    sampled: bool = False

    def of_numbers(self) -> GraphEnd:
        """Return the same for whole numbers, which no other mode would have given a gradient."""
        how = self.op if self.how == "inference" else self.how
        return replace(self, discrete=True, how=how)

    def with_leaves(self, others: Iterable[GraphEnd]) -> GraphEnd:
        """Return the same for the leaves of others, too.

        A tensor is never asked for its hash: a script's own may have none.
        """
        more = {id(leaf): leaf for one in (self, *others) for leaf in one.leaves}
        if len(more) == len(self.leaves):
            return self
        return replace(self, leaves=(*more.values(),)[:MANY])


def way_to_end(name: str, learning: Iterable[torch.Tensor]) -> str:
    """Return what ended the graph in a call whose result has none, of arguments that require
    gradients."""
    if name in CUTS | COPIES:
        return name
    if not torch.is_grad_enabled():
        return "no_grad"
    return "inference" if all(tensor.is_inference() for tensor in learning) else name


def is_sampling(frame: FrameType | None) -> bool:
    """Return True if a distribution that could keep the graph is asked for a sample without one."""
    while frame is not None and frame.f_code.co_name != "sample":
        frame = frame.f_back if frames.OWNERS[frame.f_code.co_filename] is not frames.USER else None
    asked = frame.f_locals.get("self") if frame is not None else None
    return isinstance(asked, Distribution) and bool(asked.has_rsample)


def ended_in(metadata: Any) -> GraphEnd | None:
    """Return the ended term in a node's metadata; a script may have written there."""
    found = metadata.get(CUT_TERM)
    return found if isinstance(found, GraphEnd) else None


def similarity(ended: GraphEnd) -> tuple[bool, bool, bool]:
    """Return a sort key: graphs of parameters first, then those of data, each before choices made
    by them; a gradient last."""
    of_parameters = any(isinstance(known(), Parameter) for known in ended.leaves)
    derivative = ended.how in ("grad", "constant")
    return not (of_parameters or ended.how == "frozen"), ended.discrete, derivative
