"""What the losses that are walked are composed of: targets that have a graph of their own, and
terms that have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .engine import Call
from .frames import Json
from .graph import ACCUMULATE, Node, op_name, walk
from .parameters import Known, Parameters
from .stamps import Stamps

CUT_TERM = "cut_term"  # metadata: where what a sum got without a graph had lost it
MOVING = "the loss trains what it is to aim at, too"
CONSTANT = "a term of the loss has no graph"
NODES = 2000  # that are looked through for losses
CALLS = 4096  # whose terms are looked at
TERMS = 64  # of a loss
OFTEN = 2  # calls in which it was so
_AIMING = frozenset(  # kinds of nodes that are given an input and a target
    {"MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0", "SoftMarginLossBackward0"}
    | {"BinaryCrossEntropyBackward0", "BinaryCrossEntropyWithLogitsBackward0"}
)
_ENTROPY = "XlogyBackward0"  # of a target with itself, as `kl_div` reckons it
_ERRORS = frozenset({"PowBackward0", "AbsBackward0"})  # of a difference that the script writes out
_COMPARING = _AIMING | _ERRORS | {_ENTROPY}
_SUMS = frozenset({"AddBackward0", "SubBackward0"})
_SCALED = frozenset({"MulBackward0", "DivBackward0"})

_Line = tuple[str, int]


class Composed:
    """Looks at the losses of the first walks; `found` tells what was so in several."""

    def __init__(self, stamps: Stamps, parameters: Parameters) -> None:
        self._stamps = stamps
        self._parameters = parameters
        self._moving: dict[_Line, tuple[int, Json]] = {}
        self._constant: dict[_Line, tuple[int, Json]] = {}

    def after(self, call: Call, *, early: bool) -> None:
        """Look at what was walked; for targets, which is dearer, in `early` calls only."""
        for node in call.walk.nodes[:NODES] if early else ():
            if op_name(node) in _COMPARING and (names := self._moved(node)):
                self._note(self._moving, _difference(node) or node, names)
        for root, _ in call.roots if call.n <= CALLS else ():
            for node in _constant_terms(root):
                ended = node.metadata.get(CUT_TERM)
                self._note(self._constant, node, *self._cut(ended))

    @property
    def constant_terms(self) -> bool:
        """Whether losses had terms without a graph, whatever those came of."""
        return any(count >= OFTEN for count, _ in self._constant.values())

    def found(self) -> Iterator[tuple[str, str, Json]]:
        """Kinds of faults, with what is told of them."""
        for count, told in self._moving.values():
            if count >= OFTEN:
                yield "moving-target", MOVING, told
        for count, told in self._constant.values():
            if count >= OFTEN and told["params"]:
                yield "constant-term", CONSTANT, told

    def _note(
        self,
        noted: dict[_Line, tuple[int, Json]],
        node: Node,
        names: list[str],
        at: Json | None = None,
    ) -> None:
        stamp = self._stamps.of(node)
        seen = stamp.at if stamp is not None else None
        if seen is not None:
            line = seen["file"], seen["line"]
            count, told = noted.get(line, (0, {}))
            new: Json = {"at": at or seen, "params": names[:64]}
            noted[line] = count + 1, told if told.get("params") else new

    def _moved(self, node: Node) -> list[str]:
        """Trained parameters that a loss reaches both ways: by what it is given, and by its
        target."""
        given, target = _given_and_target(node)
        if given is None or target is None:
            return []
        both = self._trained(given).keys() & self._trained(target).keys()
        return [known.name for number in sorted(both) if (known := self._parameters.known[number])]

    def _trained(self, node: Node) -> dict[int, Known]:
        below = walk([(node, 0)], NODES)
        leaves = [leaf.variable for _, leaf in below.leaves]
        leaves += [node.variable] if _is_leaf(node) else []
        found = [known for leaf in leaves if (known := self._parameters.find(leaf)) is not None]
        return {known.id: known for known in found if known.optimizer is not None}

    def _cut(self, ended: Any) -> tuple[list[str], Json | None]:
        """The trained parameters that a term came of, and where it lost its graph."""
        leaves = [leaf for known in ended.leaves if (leaf := known()) is not None] if ended else []
        found = [k for leaf in leaves if (k := self._parameters.find(leaf)) is not None]
        names = [known.name for known in found if known.optimizer is not None]
        return names, ended.at if names else None


def _given_and_target(node: Node) -> tuple[Node | None, Node | None]:
    """What a node holds against each other, as far as both have a graph."""
    compared = _difference(node) if op_name(node) in _ERRORS else node
    below = [one for one, _ in compared.next_functions] if compared is not None else []
    given, target = (*below, None, None)[:2]
    alone = op_name(node) == _ENTROPY and given is not target
    return (None, None) if alone else (given, target)


def _difference(node: Node) -> Node | None:
    """The difference that an error is the square, or the size, of."""
    below = node.next_functions[0][0] if op_name(node) in _ERRORS else None
    return below if below is not None and op_name(below) == "SubBackward0" else None


def _is_leaf(node: Node) -> bool:
    return type(node) is ACCUMULATE


def _constant_terms(root: Node) -> Iterator[Node]:
    """The sums that make up a loss, one side of which has no graph."""
    pending = [root]
    for _ in range(TERMS):
        if not pending:
            return
        node = pending.pop()
        below = [one for one, _ in node.next_functions]
        name = op_name(node)
        if name in _SUMS and None in below:
            yield node
        scaled = name in _SCALED and None in below
        if name in _SUMS or scaled or name == "NegBackward0":
            pending += [one for one in below if one is not None]
