"""Find bootstrap targets that a loss trains too although the source intends them as constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from analyzers.evidence import SilentFault
from analyzers.explain.origins import origins_of
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.explain.target_networks import is_of_target_network, target_networks
from analyzers.explain.weighing import weights
from analyzers.source import priors
from analyzers.source.callees import is_call, operation, own_name
from analyzers.source.flow import (
    bindings,
    definitions,
    names_read,
    statements_of,
    value_of,
    walk_scope,
)
from analyzers.source.project import Project, spelled
from analyzers.source.recording import recorded
from analyzers.source.signatures import named
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, position, walk, whole
from provenance import CodeLine

OTHERS = "the target leads to trained parameters of another network"
CROSSED = "of two predictions each is compared with what the other is made of"
RATIO = "of a ratio of log-probabilities both lead to the same trained parameters"
WEIGHS = "what weighs a log-probability leads to trained parameters"
_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)  # expressions that compute a new value


@dataclass(frozen=True)
class BootstrapTarget:
    """The target that a loss compares with, or (`weighs`) the factor of its log-probabilities.

    `given` is the expression in the loss, `made` the statement in the same function that computed
    it, or that named it where nothing is recorded (`is_alias`).
    """

    where: SourceLocation
    given: ast.expr
    made: ast.Assign | None
    weighs: bool = False
    is_alias: bool = False

    @property
    def name(self) -> str:
        return spelled(self.given) if isinstance(self.given, ast.Name | ast.Attribute) else ""


def constant_target(fault: SilentFault, project: Project) -> BootstrapTarget | None:
    """Return the target of the loss at a place if it is intended as a constant: it is discounted
    (bootstrapped), a copy of what it is compared with, or has a target's name. Or return the factor
    in it that is a difference or has an advantage's name, or the older log-probability of a ratio.
    None if nothing shows that it is a constant.
    """
    seen = resolve_location(project, fault.at)
    if seen is None:
        return None
    if fault.detail == CROSSED:
        given = _side(seen.statement, int(fault.figures[0]) if fault.figures else 1)
        if given is None:
            return None
        return _alias_unrecorded(seen, given, project) or BootstrapTarget(seen, given, None)
    if fault.detail == RATIO:
        return _older(seen)
    if fault.detail == OTHERS and fault.params:
        if all(is_of_target_network(name, project) for name in fault.params):
            return next(_target_network_outputs(project), None)
    for where, given in _given_anywhere(seen, project) if fault.detail != WEIGHS else ():
        made = made_before(where, given)
        value = made.value if made is not None else given
        called = made is not None and priors.is_target(spelled(given))
        called = called and where is seen  # both of two that are compared may learn
        taught = any(map(priors.is_teacher, names_read(value) | {spelled(given)}))
        discounted = _is_discounted(given) or any(
            _is_discounted(one.statement) for one in origins_of(where, names_read(given), project)
        )
        if fault.detail == OTHERS and not (taught or discounted):
            continue  # two networks that learn to meet
        if called or taught or discounted or _is_copy(where, given):
            return BootstrapTarget(where, given, made)
        if (alias := _alias_unrecorded(where, given, project)) is not None:
            return alias
    pairs = weights(seen.scope, walk(seen.statement), by_name=True)
    for weight, _ in pairs if fault.detail == WEIGHS else ():
        given = weight.operand if isinstance(weight, ast.UnaryOp) else weight
        made = made_before(seen, given)
        value = made.value if made is not None else given
        called = priors.is_advantage(spelled(given).partition("[")[0])
        if called or _is_difference(value):
            return BootstrapTarget(seen, given, made, weighs=True)
    return None


def _older(seen: SourceLocation) -> BootstrapTarget | None:
    """Return what a ratio of log-probabilities subtracts, if it has the name of an older one, or is
    computed of the same actions as the other.
    """
    before = [
        statement
        for name in sorted(names_read(seen.statement))
        for statement in definitions(seen.scope, name)
        if position(statement) < position(seen.statement)
    ]
    for where in (replace(seen, statement=statement) for statement in (seen.statement, *before)):
        for node in nodes_of(where.statement, ast.BinOp):
            if isinstance(node.op, ast.Sub):
                one, other = (_given_to(where, side) for side in (node.left, node.right))
                if (one and one == other) or priors.is_old(spelled(whole(node.right))):
                    return BootstrapTarget(where, node.right, made_before(where, node.right))
    return None


def _given_to(where: SourceLocation, value: ast.expr) -> list[str]:
    """Return the arguments of the call that computes a log-probability; empty if none is seen."""
    made = made_before(where, value)
    calls = nodes_of(made.value if made is not None else value, ast.Call)
    direct = [call for call in calls if operation(call) == "log_prob"] or calls[:1]
    return [spelled(argument) for call in direct[:1] for argument in call.args]


def _side(statement: ast.stmt, side: int) -> ast.expr | None:
    """Return one of the two values that a statement compares, without its normalisation."""
    for node in walk(statement):
        match node:
            case ast.Call(args=[one, other, *_]) if is_loss(node) or "cos" in operation(node):
                return _undirected((one, other)[side])
            case ast.BinOp(left=one, op=ast.Mult() | ast.MatMult() | ast.Sub(), right=other):
                if names_read(one) and names_read(other):
                    return _undirected((one, other)[side])
    return None


def _undirected(value: ast.expr) -> ast.expr:
    """Return `z` for `F.normalize(z, dim=1)` and for `z / z.norm()`."""
    match value:
        case ast.Call(args=[inner, *_]) if is_call(value, "torch.Tensor.normalize"):
            return inner
        case ast.BinOp(left=inner, op=ast.Div()):
            return inner
    return value


def _given_anywhere(
    where: SourceLocation, project: Project
) -> Iterator[tuple[SourceLocation, ast.expr]]:
    """Yield the targets of a statement; if they are parameters of its function, the callers'
    arguments.
    """
    own = [*_targets(where)]
    yield from ((where, given) for given in own)
    if not isinstance(where.scope, ast.FunctionDef):
        return
    names = {spelled(whole(given)) for given in own} & named(where.scope)
    for module, call in project.each(ast.Call) if names else ():
        statement = module.statement_at(call.lineno, call.col_offset)
        if own_name(call) == where.scope.name and statement is not None:
            at = SourceLocation(module, statement, CodeLine(module.path, call.lineno))
            for name, argument in arguments(call, where.module, where.scope):
                if name in names:
                    yield at, argument


def _target_network_outputs(project: Project) -> Iterator[BootstrapTarget]:
    """Yield the outputs of target networks that are named and recorded in the graph."""
    own = {name.rpartition(".")[2] for name in target_networks(project)}
    for module, statement in project.each(ast.Assign):
        for one, value in assigned_pairs(statement):
            calls = nodes_of(value, ast.Call)
            if any(own_name(call) in own for call in calls) and recorded(module, statement):
                where = SourceLocation.of(module, statement)
                yield BootstrapTarget(where, one, statement)


def _alias_unrecorded(
    seen: SourceLocation, given: ast.expr, project: Project
) -> BootstrapTarget | None:
    """Return the assignment that gives the target its name where nothing is recorded, from values
    with their graphs; in another function if the loss's own has none.
    """
    name = spelled(whole(given))
    own = definitions(seen.scope, name)
    for module, statement in project.each(ast.Assign):
        if own and statement not in own:
            continue
        for one, value in assigned_pairs(statement):
            if spelled(one) == name and not any(isinstance(n, _WORK) for n in walk(value)):
                values = nodes_of(value, ast.Name, ast.Attribute)
                if values and not recorded(module, statement):
                    where = SourceLocation.of(module, statement)
                    return BootstrapTarget(where, one, statement, is_alias=True)
    return None


def _is_difference(value: ast.expr) -> bool:
    """Return True if a value is a difference of two values; `1 - p` does not count."""
    sub = value if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) else None
    return sub is not None and not {type(sub.left), type(sub.right)} & {ast.Constant}


def _is_copy(where: SourceLocation, given: ast.expr) -> bool:
    """Return True if a value is a copy of what the statement compares with it: they differ only in
    what is written into the copy, which is the target.
    """
    pairs = [node.args for node in nodes_of(where.statement, ast.Call)]
    compared = {spelled(pair[0]) for pair in pairs if given in pair[1:2]}
    return any(
        spelled(copied.func.value) in compared
        for statement in definitions(where.scope, spelled(given))
        if isinstance(copied := value_of(statement), ast.Call)
        and isinstance(copied.func, ast.Attribute)
        and copied.func.attr == "clone"
    )


def _is_discounted(value: ast.AST) -> bool:
    """Return True if a value is computed with a discount. `gamma` is one if a product with it is
    added to a reward, or is masked when an episode is over.
    """
    if any(map(priors.is_plain_discount, names_read(value))):
        return True
    return any(
        isinstance(node.op, ast.Add)
        and any(map(priors.is_gamma, names_read(node.right)))
        and (
            priors.is_reward(spelled(node.left).partition("[")[0])
            or any(map(priors.is_done, _words(node.right)))
        )
        for node in nodes_of(value, ast.BinOp)
    )


def _words(value: ast.expr) -> set[str]:
    """Return the names that an expression reads, and its string keys: `done`
    for `batch["done"]`.
    """
    keys = [n.value for n in nodes_of(value, ast.Constant)]
    return names_read(value) | {key for key in keys if isinstance(key, str)}


def given_with(target: BootstrapTarget) -> Iterator[ast.expr]:
    """Yield what losses of the function are given of the other names that the
    same statement binds.
    """
    where, made = target.where, target.made
    names = set(bindings(made)) - {target.name} if made is not None else set()
    if names:
        spots = [replace(where, statement=s) for s in statements_of(where.scope)]
        weighing = [weight for weight, _ in weights(where.scope, walk_scope(where.scope))]
        aimed = [given for one in spots for given in _targets(one)]
        yield from (given for given in (*weighing, *aimed) if spelled(given) in names)


def _targets(where: SourceLocation) -> Iterator[ast.expr]:
    """Yield the second arguments of the statement's calls, `target` keywords, and operands of
    differences.
    """
    for node in walk(where.statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield from (node.right, node.left)
        if isinstance(node, ast.Call):
            yield from (k.value for k in node.keywords if k.arg == "target")
            yield from node.args[1:2]


def made_before(where: SourceLocation, given: ast.expr) -> ast.Assign | None:
    """Return the last earlier statement that bound a name."""
    before = [
        statement
        for statement in definitions(where.scope, spelled(given))
        if position(statement) < position(where.statement) and value_of(statement) is not None
    ]
    return before[-1] if before and isinstance(before[-1], ast.Assign) else None
