"""Where a parameter is cut off from the loss."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.evidence import Place, SilentFault
from analyzers.explain.pattern import Carrier
from analyzers.explain.reuse.feeding import put_in
from analyzers.explain.reuse.targets import is_loss
from analyzers.explain.spots import Spot, names_held, spot
from analyzers.repair.reconnect.recording import switched_off_at
from analyzers.repair.reconnect.softening import softened
from analyzers.repair.reconnect.uncutting import cut_from, cuts_in
from analyzers.repair.reconnect.withheld import Withheld, withheld
from analyzers.source.calls import calls_named, calls_to
from analyzers.source.flow import (
    backward_calls,
    bindings,
    called_name,
    names_bound,
    names_read,
    names_read_by,
    own_expressions,
    statements_of,
    stored_into,
    value_of,
)
from analyzers.source.project import Module, Project, Scope
from analyzers.source.signatures import parameters
from analyzers.source.trees import remembered, walk

MAX_CUTS = 3
_PASSING_ON = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.For)
_OF_OBJECTS = ("forward", "__call__")  # what they do when they are called themselves
MAX_DEPTH = 3  # of calls from the function that reads the parameters


@dataclass(frozen=True)
class Cut:
    """A statement that cuts values of a starved parameter off, and the line to look at."""

    where: Spot
    place: Place
    carrier: Carrier
    withheld: Withheld | None = None


def cuts_behind(fault: SilentFault, project: Project) -> Iterator[Cut]:
    """The cuts on the ways of the starved parameters through the functions that use them; those
    of whole models, which may be an evaluation's, and of targets last; before all of them what a
    Function of the script's own hands None. Where nothing is cut, steps on the way (`round`, a
    comparison) whose gradient is zero; else the cut that the run came by."""
    parts = {part for path in fault.params for part in path.split(".")[1:] if not part.isdigit()}
    models = {path.partition(".")[0] for path in (*fault.params, *names_held(fault.holders))}
    for look in (_withheld_at, _cut_at, _step_at):
        found: dict[int, Cut] = {}
        for wanted, locals_too in ((parts, False), (models, True)):
            for cut in _cuts_of(wanted, locals_too, project, look):
                found.setdefault(id(cut.where.statement), cut)
        yield from sorted(found.values(), key=_cuts_a_target)[:MAX_CUTS]
        if found:
            return
    if (where := spot(project, fault.seen_at)) is not None and cuts_in(where.statement):
        bound = [*bindings(where.statement), *_cut_names(where)]
        yield from [Cut(where, where.place, Carrier(bound[0], where.place))] if bound else []


def _cuts_a_target(cut: Cut) -> bool:
    """Whether all that a statement cuts is what a loss compares with: a constant on purpose."""
    cuts = cuts_in(cut.where.statement)
    targets = {
        id(call.args[1])
        for call in walk(cut.where.statement)
        if isinstance(call, ast.Call) and len(call.args) > 1 and is_loss(call)
    }
    return bool(cuts) and all(id(one) in targets for one in cuts)


@dataclass(frozen=True)
class _Sources:
    """What is looked for in a statement: modules or parameters, and names computed from them."""

    wanted: set[str]
    derived: Mapping[str, str]
    project: Project

    def name(self, node: ast.stmt) -> str | None:
        """The wanted name that the statement's value comes from."""
        return _source(node, self.wanted, self.derived)

    def has(self, node: ast.expr) -> bool:
        """Whether an expression comes from a wanted one."""
        return self.name(ast.Return(node)) is not None


_Look = Callable[[Spot, str, _Sources], Cut | None]


@dataclass(frozen=True)
class _Way:
    """A function on the way from the parameters to the loss; `known` are its names for values
    computed from them, each with the name that led there."""

    module: Module
    scope: Scope
    known: Mapping[str, str]
    depth: int = 0


def _cuts_of(names: set[str], locals_too: bool, project: Project, look: _Look) -> Iterator[Cut]:
    """Those in the functions that read the parameters themselves, then in what those call."""
    ways = [
        _Way(module, scope, {})
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
        for statement, derived in _flow(way, wanted):
            where = Spot(way.module, statement, Place(way.module.path, statement.lineno))
            sources = _Sources(wanted, derived, project)
            name = sources.name(statement)
            cut = look(where, name, sources) if name is not None else None
            if cut is not None and _goes_on(way.scope, statement, project):
                yield cut
            elif cut is None and way.depth < MAX_DEPTH:
                ways += _called_by(way, statement, wanted, derived, project)


def _flow(way: _Way, wanted: set[str]) -> Iterator[tuple[ast.stmt, dict[str, str]]]:
    """Statements that read the wanted modules or parameters, or what was computed from them, with
    the names for the latter at that point."""
    derived = dict(way.known)
    if getattr(way.scope, "name", "") == "__init__":
        return
    for node in statements_of(way.scope):
        passing = isinstance(node, _PASSING_ON) or _put_in(node) is not None
        if not passing or (isinstance(node, ast.For) and not cuts_in(node)):
            continue
        source = _source(node, wanted, derived)
        if source is not None:
            yield node, derived
            derived |= dict.fromkeys(bindings(node), source)


def _source(node: ast.stmt, wanted: set[str], derived: Mapping[str, str]) -> str | None:
    """The name by which the statement's value comes from the wanted."""
    value = node.value if isinstance(node, ast.Return) else value_of(node) or _put_in(node)
    value = node.iter if isinstance(node, ast.For) else value
    read = _in_order(value) if value is not None else ()
    found = next((n for n in read if _is_wanted(n, wanted) or n in derived), None)
    return derived.get(found, found) if found is not None else None


def _put_in(node: ast.stmt) -> ast.expr | None:
    """What a statement puts into a container of plain name: `y` of `xs.append(y)`."""
    stored = stored_into(node.value) if isinstance(node, ast.Expr) else None
    return put_in(node) if stored is not None and "." not in stored else None


@remembered
def _in_order(value: ast.expr) -> Sequence[str]:
    """The names that an expression reads."""
    return sorted(names_read(value))


def _called_by(
    way: _Way, statement: ast.stmt, wanted: set[str], derived: Mapping[str, str], project: Project
) -> Iterator[_Way]:
    """The project's functions that the statement hands such values to."""
    for call in walk(statement):
        if not isinstance(call, ast.Call):
            continue
        given = list(_sources_given(call, wanted, derived))
        for module, function in _functions_called(call, project) if given else ():
            if function is way.scope:
                continue
            names = parameters(function)
            known = {
                names[key] if isinstance(key, int) else key: source
                for key, source in given
                if not isinstance(key, int) or key < len(names)
            }
            yield _Way(module, function, known, way.depth + 1)


def _functions_called(call: ast.Call, project: Project) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """The project's functions of the name that is called; where it has none, what an object of
    its own may do when it is called with so many arguments."""
    named = [
        (module, function)
        for module, function in project.functions_by_name(called_name(call))
        if isinstance(function, ast.FunctionDef)
    ]
    yield from named
    given = len(call.args) + len(call.keywords)
    for module in project.modules.values() if not named else ():
        for function in _called_as_objects(module.tree).get(given, ()):
            yield module, function


@remembered
def _called_as_objects(tree: ast.Module) -> dict[int, list[ast.FunctionDef]]:
    """What a file's objects do when they are called, by the number of arguments."""
    found: dict[int, list[ast.FunctionDef]] = {}
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in _OF_OBJECTS:
            found.setdefault(len(node.args.args) - 1, []).append(node)
    return found


def _sources_given(
    call: ast.Call, wanted: set[str], derived: Mapping[str, str]
) -> Iterator[tuple[int | str, str]]:
    """Arguments, by place or keyword, that come from the wanted, with the name that led there."""
    places: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
    places += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    for key, value in places:
        source = _source(ast.Return(value), wanted, derived)
        if source is not None:
            yield key, source


def _goes_on(scope: Scope, statement: ast.stmt, project: Project, depth: int = MAX_DEPTH) -> bool:
    """Whether what the statement computes goes on towards a loss: it is handed on, kept in an
    object, walked, or returned to where it is. A number that is only logged does not."""
    if isinstance(statement, ast.Return):
        return _taken_on(scope, project, depth)
    reached = set(bindings(statement))
    for node in [*statements_of(scope)] * 2:  # what a loop reads may stand in front
        if not names_read_by(node) & reached:
            continue
        if backward_calls(node):
            return True
        if isinstance(node, ast.Return) and _taken_on(scope, project, depth):
            return True
        reached |= set(bindings(node))
    return any("." in name for name in reached)


def _taken_on(scope: Scope, project: Project, depth: int) -> bool:
    """Whether what a function returns goes on where it is called by its name; so it does where
    no such call is seen."""
    name = getattr(scope, "name", "")
    calls = calls_to(project, name)
    if not depth or not calls or name in _OF_OBJECTS:
        return True
    for module, call in calls:
        around = next(n for n in module.ancestors(call) if isinstance(n, ast.stmt))
        walks = isinstance(around, ast.Expr) and bool(backward_calls(around))
        if walks or _goes_on(module.scope_of(around), around, project, depth - 1):
            return True
    return False


def _is_wanted(name: str, wanted: set[str]) -> bool:
    return name in wanted or ("." in name and name[name.rindex(".") :] in wanted)


def _withheld_at(where: Spot, name: str, sources: _Sources) -> Cut | None:
    """A Function in the statement that hands None to what comes from the wanted."""
    if isinstance(where.statement, ast.For):
        return None  # the statements in it are looked at one by one
    found = withheld(where, sources.has, sources.project)
    return Cut(where, found.place, found.carrier, found) if found is not None else None


def _cut_at(where: Spot, name: str, sources: _Sources) -> Cut | None:
    walks_over = isinstance(where.statement, ast.For)  # its names stand for parts
    line = switched_off_at(where) if not walks_over else None
    sampled = list(samples(where.statement))
    if line is None and not cuts_in(where.statement) and not sampled:
        return None
    place = Place(where.place.file, line or where.place.line)
    bound = [] if walks_over or _is_number(where) else bindings(where.statement)
    carrier = Carrier(next(iter([*bound, *_cut_names(where)]), name), where.place)
    return Cut(where, place, carrier)


def _cut_names(where: Spot) -> Iterator[str]:
    """Names that a returned value is cut from: `loss` in `return Variable(loss.data)`."""
    for cut in cuts_in(where.statement) if isinstance(where.statement, ast.Return) else ():
        source = cut_from(cut)
        if isinstance(source, ast.Name):
            yield source.id


def _step_at(where: Spot, name: str, sources: _Sources) -> Cut | None:
    """A step function in the statement, whose gradient is zero wherever it has one."""
    if isinstance(where.statement, ast.For) or softened(where) is None:
        return None
    bound = bindings(where.statement)
    return Cut(where, where.place, Carrier(bound[0] if bound else name, where.place))


def _is_number(where: Spot) -> bool:
    """Whether the cut gives a plain number: then the parameter's own name says more."""
    value = value_of(where.statement)
    return value is not None and bool(calls_named(value, "item", "float", "tolist"))


def samples(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls of `sample` on a distribution, through which no gradient goes."""
    for node in own_expressions(statement):
        if isinstance(node, ast.Call) and called_name(node) == "sample":
            if isinstance(node.func, ast.Attribute):
                yield node
