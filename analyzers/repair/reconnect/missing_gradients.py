"""Find where a parameter is cut off from the loss."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import GraphCarrier
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.explain.silent_matches import ZEROS, owner_of
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.repair.reconnect.cutting_expressions import cut_from, cuts_in, opposed
from analyzers.repair.reconnect.differentiating import differentiable_gradients
from analyzers.repair.reconnect.dropped_argument import Unpassed, unpassed
from analyzers.repair.reconnect.enable_recording import switched_off_at
from analyzers.repair.reconnect.fast_weights import updated_copies
from analyzers.repair.reconnect.function_none_grad import Withheld, withheld
from analyzers.repair.reconnect.functional import loads, written
from analyzers.repair.reconnect.gradient_paths import (
    MAX_DEPTH,
    FlowPath,
    called_by,
    callers_of,
    flow,
    goes_on,
    source_of,
)
from analyzers.repair.reconnect.softening import is_choice
from analyzers.repair.reconnect.step_functions import softened
from analyzers.source.calls import calls_of
from analyzers.source.flow import (
    bindings,
    names_bound,
    names_read,
    statements_of,
    value_of,
)
from analyzers.source.project import Project, Scope
from analyzers.source.samples import samples
from analyzers.source.trees import nodes_of
from provenance import CodeLine

MAX_CUTS = 3


@dataclass(frozen=True)
class Cut:
    """A statement that cuts off values of a parameter without gradient, and the line to look at.
    `own`: what it cuts is the parameter, or computed from it.
    """

    where: SourceLocation
    place: CodeLine
    carrier: GraphCarrier
    withheld: Withheld | None = None
    unpassed: Unpassed | None = None
    own: bool = True


def cuts_of_fault(fault: SilentFault, project: Project) -> Iterator[Cut]:
    """Yield the cuts on the paths of the parameters without gradient, the traced one first.

    A derivative without a graph is the only one. Else first come inputs for which a Function
    returns None, then cuts in the functions that use the parameters, last those of whole models
    (perhaps an evaluation's) and of targets. Without any cut: steps on the path with zero gradient
    (`round`, a comparison), or functions that drop an argument. If static analysis finds none, only
    the traced cut is yielded. Gradients of zeros came through a graph: only such steps explain
    them.
    """
    last = -1 if fault.doubtful else None  # many a module has a `weight`
    paths = [path.split(".")[1:last] for path in fault.params]
    parts = {part for path in paths for part in path if not part.isdigit()}
    models = {_model_of(path) for path in (*fault.params, *names_held(fault.holders))}
    lost, lines = resolve_location(project, fault.at), dict(fault.ran)
    backward = resolve_location(project, fault.call.at) if fault.call is not None else None
    flat = fault.detail == ZEROS
    if lost is not None and any(differentiable_gradients(lost)):
        yield from _traced(fault, lost)
        return
    for look in (_step_at,) if flat else (_withheld_at, _cut_at, _step_at, _unpassed_at):
        found: dict[int, Cut] = {}
        for wanted, locals_too in ((parts, False), (models, True)):
            for cut in _cuts_of(wanted, locals_too, project, look):
                if not _refills(cut.where.statement, fault.params) and _may_run(cut.where, lines):
                    found.setdefault(id(cut.where.statement), cut)
        likely = sorted(
            found.values(),
            key=lambda cut: (
                not _cancels(cut),
                _is_for_another(cut, backward),
                not _is_at(cut, lost),
                not _ran(cut.where, lines),
                _cuts_a_target(cut),
            ),
        )
        if found:
            chosen = lost is not None and is_choice(lost)
            if chosen and not any(_is_at(cut, lost) for cut in likely):
                yield from _traced(fault, lost)
            yield from likely[:MAX_CUTS]
            return
    if flat:
        return
    stepped = [
        Cut(s, s.place, GraphCarrier(name, s.place))
        for s, name in updated_copies(fault.params, project)
    ]
    yield from stepped[:MAX_CUTS]
    where = resolve_location(project, fault.seen_at) if not stepped else None
    if where is not None and (fault.at is not None or cuts_in(where.statement)):
        yield from _traced(fault, where)


def _traced(fault: SilentFault, where: SourceLocation | None) -> Iterator[Cut]:
    """Yield the place that a run recorded, as a cut."""
    if where is not None:
        owner = owner_of(fault.params).rpartition(".")[2]
        name = next(filter(None, [*bindings(where.statement), *_cut_names(where), owner]), None)
        yield from [Cut(where, where.place, GraphCarrier(name, where.place))] if name else []


def _model_of(path: str) -> str:
    """Return the name that a path begins with.

    Return `self.net` for a path through an object's own attribute, to exclude its other members.
    """
    names = path.split(".")
    return ".".join(names[: 1 + (names[0] == "self" and len(names) > 2)])


def _is_at(cut: Cut, where: SourceLocation | None) -> bool:
    return where is not None and cut.where.statement is where.statement


def _is_for_another(cut: Cut, backward: SourceLocation | None) -> bool:
    """Return True if a statement computes nothing of what the backward call of its function is
    called on: it is for another loss.
    """
    if backward is None or cut.where.scope is not backward.scope:
        return False
    before = list(statements_of(backward.scope))
    wanted = set(names_read(backward.statement))
    for statement in reversed(before[: before.index(backward.statement)]):
        made = set(bindings(statement))
        if made & wanted:
            if statement is cut.where.statement:
                return False
            wanted = (wanted - made if isinstance(statement, ast.Assign) else wanted) | names_read(
                value_of(statement) or statement
            )
    return cut.where.statement is not backward.statement


def _refills(statement: ast.stmt, params: Sequence[str]) -> bool:
    """Return True if a statement only writes other numbers to one of the parameters itself."""
    write = written(statement)
    path = write.path.removeprefix("self.") if write is not None else ""
    return bool(path) and any(f".{param}".endswith(f".{path}") for param in params)


def _may_run(where: SourceLocation, ran: Mapping[str, Sequence[int]]) -> bool:
    """Return True unless the statement is in a branch that its condition did not take, among the
    lines that ran."""
    lines, inner = set(ran.get(where.module.path, ())), where.statement
    for outer in where.module.ancestors(where.statement):
        if isinstance(outer, ast.If):
            taken = outer.body if inner in outer.body else outer.orelse
            asked = lines & _lines_of(outer.test)
            if asked and not any(lines & _lines_of(one) for one in taken):
                return False
        inner = outer if isinstance(outer, ast.stmt) else inner
    return True


def _ran(where: SourceLocation, ran: Mapping[str, Sequence[int]]) -> bool:
    """Return True if the statement is among the lines that ran, or none were recorded."""
    return not any(ran.values()) or not _lines_of(where.statement).isdisjoint(
        ran.get(where.module.path, ())
    )


def _lines_of(node: ast.expr | ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _cancels(cut: Cut) -> bool:
    """Return True if a statement cuts a sum whose parts cancel: it makes sense only with the cut of
    one of them, `(z + (q - z)).detach()`.
    """
    return any(any(opposed(cut_from(one))) for one in cuts_in(cut.where.statement))


def _cuts_a_target(cut: Cut) -> bool:
    """Return True if everything that a statement cuts is what a loss compares with: an intended
    constant.
    """
    cuts = cuts_in(cut.where.statement)
    targets = {
        id(call.args[1])
        for call in nodes_of(cut.where.statement, ast.Call)
        if len(call.args) > 1 and is_loss(call)
    }
    return bool(cuts) and all(id(one) in targets for one in cuts)


_Source = Callable[[ast.stmt], str | None]  # the wanted name that a statement's value comes from
_Look = Callable[[SourceLocation, str, _Source, Project], Cut | None]


def _cuts_of(names: set[str], locals_too: bool, project: Project, look: _Look) -> Iterator[Cut]:
    """Yield cuts in the functions that read the parameters themselves, then in what those call."""
    ways = [
        FlowPath(module, scope, {})
        for module in project.modules.values()
        for scope in [*module.scopes[1:], module.tree]
    ]
    met: set[tuple[Scope, frozenset[str]]] = set()
    for way in ways:  # grows as calls are met
        if (way.scope, frozenset(way.known)) in met:
            continue
        met.add((way.scope, frozenset(way.known)))
        wanted = {f".{name}" for name in names}
        # A name that a function gives a value itself is no attribute of a model.
        wanted |= names if locals_too else names - names_bound(way.scope)
        for statement, derived in flow(way, wanted):
            where = SourceLocation.of(way.module, statement)
            source = partial(source_of, wanted=wanted, derived=derived)
            name = source(statement)
            cut = look(where, name, source, project) if name is not None else None
            if cut is not None and goes_on(way.scope, statement, project):
                yield cut
            elif cut is None and way.depth < MAX_DEPTH:
                ways += called_by(way, statement, wanted, derived, project)
                ways += callers_of(way, statement, name, project) if name is not None else ()


def _withheld_at(where: SourceLocation, name: str, source: _Source, project: Project) -> Cut | None:
    """Return a Function in the statement that gives None to a value of the wanted, as a cut.

    A compound statement is skipped: the statements of its body are examined one by one.
    """
    if isinstance(where.statement, ast.For):
        return None
    found = withheld(where, lambda node: source(ast.Return(node)) is not None, project)
    return Cut(where, found.place, found.carrier, found) if found is not None else None


def _cut_at(where: SourceLocation, name: str, source: _Source, project: Project) -> Cut | None:
    """Return a statement that cuts what comes from the wanted: data that it cuts have no graph."""
    is_loop = isinstance(where.statement, ast.For)  # its names denote parts
    line = None if is_loop else switched_off_at(where)
    cut = [cut_from(node) for node in cuts_in(where.statement)]
    own = any(source(ast.Return(value)) is not None for value in cut)
    put = bool(cut) and written(where.statement) is not None  # into the data of a parameter
    if line is None and not any((own, put, any(samples(where.statement)), loads(where.statement))):
        return None
    bound = [] if is_loop or _is_number(where) else bindings(where.statement)
    carrier = GraphCarrier([*bound, *_cut_names(where), name][0], where.place)
    return Cut(where, CodeLine(where.place.file, line or where.place.line), carrier, own=own)


def _cut_names(where: SourceLocation) -> Iterator[str]:
    """Yield names that a returned value is cut from: `loss` in `return Variable(loss.data)`."""
    for cut in cuts_in(where.statement) if isinstance(where.statement, ast.Return) else ():
        source = cut_from(cut)
        if isinstance(source, ast.Name):
            yield source.id


def _step_at(where: SourceLocation, name: str, source: _Source, project: Project) -> Cut | None:
    """Return a step function in the statement, whose gradient is zero almost everywhere."""
    if isinstance(where.statement, ast.For) or softened(where) is None:
        return None
    bound = [*bindings(where.statement), name]
    return Cut(where, where.place, GraphCarrier(bound[0], where.place))


def _unpassed_at(where: SourceLocation, name: str, source: _Source, project: Project) -> Cut | None:
    """Return a function that receives what comes from the wanted, and drops it."""
    if isinstance(where.statement, ast.For):
        return None
    found = unpassed(where, lambda node: source(ast.Return(node)) is not None, project)
    if found is None:
        return None
    return Cut(where, found.place, found.carrier, unpassed=found, own=False)


def _is_number(where: SourceLocation) -> bool:
    """Return True if the cut gives a plain number: then the parameter's own name is more
    informative.
    """
    value = value_of(where.statement)
    return value is not None and bool(
        calls_of(value, "torch.Tensor.item", "torch.Tensor.float", "torch.Tensor.tolist")
    )
