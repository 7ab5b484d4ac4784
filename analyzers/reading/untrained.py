"""Parameters that a loss was computed from, and that no gradient can reach: every way is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from analyzers.evidence import SilentFault
from analyzers.reading import values
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost, TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaves
from analyzers.reading.torch_values import Layer, ParametersValue
from analyzers.reading.values import AbstractValue, Instance, Mapping, Unknown
from provenance import Referrer

STEPS = 2  # an optimizer's parameters are judged when it has stepped this often
MAX_DEPTH = 10


@dataclass(slots=True)
class Survey:
    """What one run found of the parameters that optimizers step, by name.

    `fed` may get gradients; `cut` were used only after the cut that is noted.
    """

    fed: set[str] = field(default_factory=set)
    cut: dict[str, Lost] = field(default_factory=dict)


def without_gradient(machines: Sequence[Machine]) -> SilentFault | None:
    """Return the parameters without gradient in some run of a script and with one in none.

    Return None if a run could not be followed to its end.
    """
    if any(machine.incomplete for machine in machines):
        return None
    surveys = [_survey(machine) for machine in machines]
    fed = {name for survey in surveys for name in survey.fed}
    alive = {_owner(name) for name in fed}
    cut = {
        name: lost
        for survey in surveys
        for name, lost in survey.cut.items()
        if name not in fed and (not alive or _owner(name) in alive)
    }
    if not cut:
        return None
    first = next(iter(cut.values()))
    return SilentFault(
        kind="unfed-parameters",
        how="predicted",
        at=first.at,
        holders=tuple(Referrer(_owner(name), kind="unknown") for name in list(cut)[:1]),
        params=tuple(cut)[:64],
        detail="every way from the loss to them is cut",
    )


def _owner(name: str) -> str:
    """Return the first part of the parameter's name: the model that holds it."""
    return name.partition(".")[0]


def _survey(machine: Machine) -> Survey:
    """Return the survey of the parameters of every optimizer that has stepped often enough."""
    survey = Survey()
    with_gradient = {leaf for traversal in machine.tape.calls for leaf in traversal.leaves}
    stepped = [(o, frame) for o, frame in machine.optimizers if o.steps >= STEPS]
    owned = {
        leaf.node: frame
        for optimizer, frame in stepped
        for leaf in leaves(ParametersValue(optimizer.params))
        if leaf.node is not None and leaf.node.trainable
    }
    without = owned.keys() - with_gradient - machine.fed
    if not without:
        return survey
    roots = [root for traversal in machine.tape.calls for root in traversal.roots]
    reached = _above([*roots, *machine.unfollowed])
    cuts = _cuts_before(reached)
    names = _names(machine, owned)
    for node in owned:
        name = names.get(node, "")
        if node not in without or node in reached:
            survey.fed.add(name)
        elif node in cuts and name:
            survey.cut[name] = cuts[node]
    return survey


def _above(nodes: Iterable[TapeNode]) -> dict[TapeNode, None]:
    """Return the nodes and all that they were computed from, freed or not."""
    found = dict.fromkeys(nodes)
    todo = list(found)
    for node in todo:
        for parent in node.parents:
            if parent not in found:
                found[parent] = None
                todo.append(parent)
    return found


def _cuts_before(reached: dict[TapeNode, None]) -> dict[TapeNode, Lost]:
    """Return the nodes that graphs were computed from across a cut, each by its cut."""
    todo = list(dict.fromkeys(lost for node in reached for lost in node.ended))
    seen = set(todo)
    found: dict[TapeNode, Lost] = {}
    for lost in todo:
        more = list(lost.before)
        for node in _above(lost.cut):
            if node not in found:
                found[node] = lost
                more += node.ended
        fresh = [inner for inner in dict.fromkeys(more) if inner not in seen]
        seen.update(fresh)
        todo += fresh
    return found


def _names(machine: Machine, owned: dict[TapeNode, InterpreterFrame]) -> dict[TapeNode, str]:
    """Return a short path from the script's names to each leaf, as PyTorch writes it."""
    found: dict[TapeNode, str] = {}
    frames = [*dict.fromkeys(owned.values()), *machine.modules.values()]
    for frame in frames:
        seen: set[int] = set()
        level = list(frame.names.items())
        for _ in range(MAX_DEPTH):
            inner: list[tuple[str, AbstractValue]] = []
            for path, value in level:
                if value.node in owned and found.get(value.node, "0")[-1].isdigit():
                    found[value.node] = path  # a list of parameters names them worse than a module
                if id(value) not in seen:
                    seen.add(id(value))
                    inner += _parts(path, value)
            level = inner
    return found


def _parts(path: str, value: AbstractValue) -> Iterator[tuple[str, AbstractValue]]:
    """Yield what a value holds, with the path to it."""
    match value:
        case Layer():
            if value.leaf is not None:
                yield f"{path}.weight", value.leaf
            yield from ((f"{path}.{i}", child) for i, child in enumerate(value.children))
        case Instance():
            yield from ((f"{path}.{name}", part) for name, part in value.attrs.items())
        case values.Sequence():
            yield from ((f"{path}.{i}", item) for i, item in enumerate(value.items))
        case Mapping():
            yield from ((f"{path}.{key}", item) for key, item in value.items.items())
        case Unknown() if "<leaf>" in value.attrs:
            yield f"{path}.weight", value.attrs["<leaf>"]
