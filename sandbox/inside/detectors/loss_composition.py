"""The composition of losses: targets and weights of log-probabilities that have a graph of their
own, and terms that have none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, permutations, product
from typing import Any, NamedTuple

from ..core.engine import Call
from ..core.frames import Json
from ..core.graph import Node, op_name, walk
from ..core.parameters import KnownParameter, ParameterRegistry
from ..core.stamps import Stamps
from ..recorders.graph_ends import GraphEnd, ended_in
from .constant_terms import SUMS, WEIGHED, UnrecordedDerivatives, constant_terms
from .details import CROSSED, NUMBER, OTHERS, RATIO, SAMPLED, WEIGHS
from .log_probabilities import RATIO_OF, is_log_probability, is_one, sides_of_ratio
from .sample_ends import is_leaf, sample_end

NODES = 2000  # that are looked through for losses
CALLS = 4096  # whose terms are looked at
LOSSES = 16  # of a call that are compared
CROSSING = 4  # of these that are held against each other
DEEP = 8  # nodes on the way to a norm
PLACES = 8  # of sums that are reported
OFTEN = 2  # calls in which it was so
_AIMING = frozenset(  # kinds of nodes that are given an input and a target
    {"MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0", "SoftMarginLossBackward0"}
    | {"BinaryCrossEntropyBackward0", "BinaryCrossEntropyWithLogitsBackward0"}
)
_ENTROPY = "XlogyBackward0"  # of a target with itself, as `kl_div` computes it
_ERRORS = frozenset({"PowBackward0", "AbsBackward0"})  # of a difference that the script writes out
_COMPARING = _AIMING | _ERRORS | {_ENTROPY}
_READ_OUT = frozenset({"item", "tolist", "__float__"})
_UNSAID = _READ_OUT | frozenset(  # by which a graph is lost without a word about gradients
    {"data", "numpy", "tensor", "as_tensor", "from_numpy", "grad"}
    | {"argmax", "argmin", "gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__"}
)

_Line = tuple[str, int]


class _Compared(NamedTuple):
    """What a loss compares: the node that does, and the two values."""

    node: Node
    sides: tuple[Node, Node]


class _Noted(NamedTuple):
    """In how many calls a line has shown something, the number of the last, its record, and the
    line."""

    calls: int
    last: int
    fields: Json
    at: Json


_NEVER = _Noted(0, 0, {}, {})


class LossComposition:
    """Looks at the losses of the first backward calls; `found` reports what several have shown."""

    def __init__(self, stamps: Stamps, parameters: ParameterRegistry) -> None:
        self._stamps = stamps
        self._parameters = parameters
        self._moving: dict[_Line, _Noted] = {}
        self._constant: dict[_Line, _Noted] = {}
        self.derivatives = UnrecordedDerivatives(parameters)

    def before(self, call: Call) -> None:
        """Look for ratios of a policy to itself: a backward frees the values that show them."""
        for node in call.walk.nodes[:NODES]:
            if op_name(node) == RATIO_OF and not self._is_reported(node):
                if (names := self._in_ratio(node)) and is_one(node):
                    self._note(self._moving, call, node, names, detail=RATIO)

    def after(self, call: Call, *, early: bool) -> None:
        """Look at the loss of a call, for targets, which is dearer, in `early` ones only; or at
        what `autograd.grad` was asked for.
        """
        if call.kind == "grad":
            self.derivatives.after(call)
            return
        looked = 0
        compared_here = list[_Compared]()
        for node in call.walk.nodes[:NODES] if early else ():
            compared, name = _difference(node) or node, op_name(node)
            self._note_sample(call, node)
            if name in SUMS or name == WEIGHED:
                self._note_derivative(call, node)
            compares = name in _COMPARING or _is_cosine(node)
            if compares or name == WEIGHED:
                if self._is_reported(compared):
                    continue
                looked += compares
                if compares and len(sides := _sides(node)) == 2:
                    compared_here.append(_Compared(compared, (sides[0], sides[1])))
                names, detail = self._moved(node) if compares else self._weighing(node)
                if names:
                    self._note(self._moving, call, compared, names, detail=detail)
            if looked >= LOSSES:
                break
        for node, side, names in self._crossed(compared_here[:CROSSING]):
            self._note(self._moving, call, node, names, detail=CROSSED, figures=[float(side)])
        for root, _ in call.roots if call.n <= CALLS else ():
            for node in constant_terms(root):
                ended = ended_in(node.metadata)
                detail = NUMBER if ended is not None and ended.how in _READ_OUT else ""
                self._note(self._constant, call, node, *self._cut(ended), detail=detail)

    def _note_sample(self, call: Call, node: Node) -> None:
        """Record what a loss computes from a sample that passes no gradient on, although the call
        trains its distribution. Static analysis knows whether a log-probability trains it.
        """
        found = sample_end(node, self._stamps) if call.kind == "backward" else None
        if found is None:
            return
        names = [one.name for one in self._held(found[0])]
        if {one.name for one in call.received} & {*names}:
            self._note(self._constant, call, node, names, found[1], detail=SAMPLED)

    def _note_derivative(self, call: Call, node: Node) -> None:
        """Record what is computed with a derivative that got no graph of its own."""
        ended = ended_in(node.metadata)
        if ended is not None and ended.mixed and call.kind == "backward":
            self._note(self._constant, call, node, *self._cut(ended))

    @property
    def constant_terms(self) -> bool:
        """Return True if losses had terms without a graph, whatever those derive from, or may have
        those that are made of derivatives."""
        return any(True for _ in self.constant_at())

    def constant_at(self) -> Iterator[Json]:
        """Yield the lines of derivatives that got no graph, and of sums with terms that have
        none."""
        seen = (noted.at for noted in self._constant.values() if noted.calls >= OFTEN)
        yield from islice(chain(self.derivatives.lines(), seen), PLACES)

    def found(self) -> Iterator[tuple[str, Json]]:
        """Yield kinds of faults with their records."""
        for noted in self._moving.values():
            if noted.calls >= OFTEN:
                yield "bootstrap-target", noted.fields
        for noted in self._constant.values():
            if noted.calls >= OFTEN and noted.fields["params"]:
                yield "constant-term", noted.fields

    def _is_reported(self, node: Node) -> bool:
        """Return True if enough calls have shown the same at the line that made a node."""
        at = self._stamps.place(node)
        return at is not None and self._moving.get((at["file"], at["line"]), _NEVER).calls >= OFTEN

    def _note(
        self,
        noted: dict[_Line, _Noted],
        call: Call,
        node: Node,
        names: list[str],
        at: Json | None = None,
        detail: str = "",
        figures: Sequence[float] = (),
    ) -> None:
        if (seen := self._stamps.place(node)) is not None:
            line = seen["file"], seen["line"]
            known = noted.get(line, _NEVER)
            new: Json = {"at": at or seen, "params": names[:64], "detail": detail}
            new["figures"] = [*figures]
            fields = known.fields if known.fields.get("params") and detail != CROSSED else new
            noted[line] = _Noted(known.calls + (known.last != call.n), call.n, fields, seen)

    def _moved(self, node: Node) -> tuple[list[str], str]:
        """Return trained parameters that a loss reaches both by its input and by its target.

        If there are none, return those that it reaches by its target alone.
        """
        given, target = _given_and_target(node)
        if given is None or target is None:
            return [], ""
        one, other = self._trained(given), self._trained(target)
        both = one.keys() & other.keys()
        numbers = sorted(both or (other.keys() if one else ()))
        return [self._parameters.known[number].name for number in numbers], "" if both else OTHERS

    def _crossed(self, compared: Sequence[_Compared]) -> Iterator[tuple[Node, int, list[str]]]:
        """Yield comparisons with a value that the prediction of another comparison derives from.

        That other one is compared with what this prediction derives from. Each comes with the node,
        the index of its side with that value, and the trained parameters that lead to it.
        """
        if len(compared) < 2:
            return
        behind = {one.node: [_made_of(side) for side in one.sides] for one in compared}
        for one, other in permutations(compared, 2):
            for mine, its in product((0, 1), repeat=2):
                target = one.sides[mine]
                meant = target in behind[other.node][1 - its]
                if meant and other.sides[its] in behind[one.node][1 - mine]:
                    names = [known.name for known in self._trained(target).values()]
                    if names:
                        yield one.node, mine, names

    def _weighing(self, node: Node) -> tuple[list[str], str]:
        """Return trained parameters that the weight of a log-probability leads to."""
        one, other = (below for below, _ in node.next_functions)
        for logs, weight in ((one, other), (other, one)):
            if logs is None or weight is None or not is_log_probability(logs, self._stamps):
                continue
            if not is_log_probability(weight, self._stamps) and self._trained(logs):
                return [known.name for known in self._trained(weight).values()], WEIGHS
        return [], ""

    def _in_ratio(self, node: Node) -> list[str]:
        """Return the trained parameters that both log-probabilities of a ratio lead to, if they
        lead to the same ones.
        """
        sides = sides_of_ratio(node, self._stamps)
        if sides is None:
            return []
        one, other = map(self._trained, sides)
        return [known.name for known in one.values()] if one.keys() == other.keys() else []

    def _trained(self, node: Node) -> dict[int, KnownParameter]:
        leaves = [leaf.variable for _, leaf in walk([(node, 0)], NODES).leaves]
        return {k.id: k for k in self._held([*leaves, *([node.variable] if is_leaf(node) else [])])}

    def _held(self, leaves: Iterable[Any]) -> list[KnownParameter]:
        """Return those of the leaves that an optimizer holds."""
        found = (self._parameters.find(leaf) for leaf in leaves if leaf is not None)
        return [known for known in found if known is not None and known.optimizer is not None]

    def _cut(self, ended: GraphEnd | None) -> tuple[list[str], Json | None]:
        """Return the trained parameters that a term derives from, and where it lost its graph.

        What says `detach` or `no_grad` is intended and left out.
        """
        if ended is None or ended.reached or not (ended.by_library or ended.how in _UNSAID):
            return [], None
        names = [one.name for one in self._held(leaf() for leaf in ended.leaves)]
        return names, ended.at if names else None


def _sides(node: Node) -> list[Node]:
    """Return the two values that a node compares; of directions, the vectors."""
    compared = _difference(node) if op_name(node) in _ERRORS else node
    below = [one for one, _ in compared.next_functions if one] if compared is not None else []
    if compared is not None and _is_cosine(compared):
        below = [of for one in below if (of := one.next_functions[0][0]) is not None]
    return below[:2]


def _made_of(node: Node) -> set[Node]:
    """Return the nodes that a value derives from, itself left out."""
    return {*walk([(node, 0)], NODES).nodes} - {node}


def _given_and_target(node: Node) -> tuple[Node | None, Node | None]:
    """Return the two values that a node compares, as far as both have a graph."""
    compared = _difference(node) if op_name(node) in _ERRORS else node
    below = [one for one, _ in compared.next_functions] if compared is not None else []
    given, target = (*below, None, None)[:2]
    alone = op_name(node) == _ENTROPY and given is not target
    return (None, None) if alone else (given, target)


def _difference(node: Node) -> Node | None:
    """Return the difference of which an error is the square or the absolute value, or None."""
    below = node.next_functions[0][0] if op_name(node) in _ERRORS else None
    return below if below is not None and op_name(below) == "SubBackward0" else None


def _is_cosine(node: Node) -> bool:
    """Return True if a product is one of two normalized vectors."""
    below = [one for one, _ in node.next_functions if one is not None]
    return op_name(node) == WEIGHED and len(below) == 2 and all(map(_is_direction, below))


def _is_direction(node: Node) -> bool:
    length = node.next_functions[-1][0] if op_name(node) == "DivBackward0" else None
    for _ in range(DEEP):
        if length is None or op_name(length).startswith(("LinalgVectorNorm", "NormBackward")):
            break
        length = length.next_functions[0][0] if length.next_functions else None
    return length is not None and "Norm" in op_name(length)
