"""Find the statements before a loop that compute what it uses: the smallest set that must run in
each iteration.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence, Set

from analyzers.repair.remake.repeated_chains import DATA
from analyzers.source.backward import backward_calls
from analyzers.source.callees import creates_object, is_call, plain_name
from analyzers.source.calls import (
    PARAMETERS,
    asks_for_gradient,
    calls_of,
    receivers_of,
    steps,
)
from analyzers.source.detached import is_made_without, names_attached
from analyzers.source.flow import (
    bindings,
    bound_within,
    definitions,
    names_bound,
    names_read,
    stored_into,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.signatures import named
from analyzers.source.statement_ranges import bound_by, read_by
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, position, remembered, walk

_MADE_ONCE = ("builtins.iter", "torch.compile", "torch.jit.script", "torch.jit.trace")
_BASES, _LOADER = ("Module", "Optimizer", "Dataset"), "torch.utils.data.DataLoader"


def chains_of(
    module: Module,
    scope: Scope,
    before: ast.stmt,
    names: set[str],
    seen: Sequence[ast.stmt] = (),
) -> Iterator[list[ast.stmt]]:
    """Return runs of statements before `before` that compute the names, or were seen to compute
    what the names lead to: first with everything that depends on a model or a parameter, then
    shorter ones down to the last statement alone.
    """
    chain: list[ast.stmt] = []
    wanted, held = set(names), _held_by_optimizers(module, scope, before)
    changed = _changed_in(before)
    for statement in reversed(list(_apart(preceding(module, scope, before)))):
        bound = bound_within(statement)
        if bound & wanted and _gathers_elsewhere(module, statement, before):
            return
        if bound & held or not (bound & wanted or statement in seen):
            continue
        if (bound - wanted) & changed:
            continue  # iterations would lose what they gather under that name
        if constructs(module, statement):
            continue
        if not chain or statement in seen or _makes_graph(module, scope, statement):
            chain.insert(0, statement)
            wanted |= names_read(statement)
        elif bound & bound_by(chain) & read_by(chain):
            chain.insert(0, statement)  # where a sum that the chain adds to begins
    if not chain:
        return
    yield chain
    if (longer := _with_dependents(module, scope, before, chain)) != chain:
        yield longer
    if len(chain) > 1:
        yield chain[-1:]


def _changed_in(loop: ast.stmt) -> set[str]:
    """Return the names that the iterations of a loop bind, or store into."""
    if not isinstance(loop, ast.For | ast.While):
        return set()
    calls = nodes_of(loop, ast.Call)
    return bound_within(loop) | {name for call in calls if (name := stored_into(call))}


def _apart(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements, with a block that trains split into its parts: to run it again would
    train twice.
    """
    for statement in statements:
        if hasattr(statement, "body") and (steps(statement) or backward_calls(statement)):
            inner = nodes_of(statement, ast.stmt)
            yield from sorted((s for s in inner if not hasattr(s, "body")), key=position)
        else:
            yield statement


def _gathers_elsewhere(module: Module, statement: ast.stmt, before: ast.stmt) -> bool:
    """Return True if a statement adds to what the iterations of a loop gather, and `before` is not
    in that loop: to run it once more would give the part of one iteration.
    """
    call = getattr(statement, "value", None)
    adds = isinstance(statement, ast.AugAssign) or (
        isinstance(call, ast.Call) and bool(stored_into(call))
    )
    adds = adds or bool(names_read(statement) & set(bindings(statement)))
    loops = module.loops_around(statement) if adds else []
    return any(not module.holds(loop, before) for loop in loops)


def _with_dependents(
    module: Module, scope: Scope, before: ast.stmt, chain: list[ast.stmt]
) -> list[ast.stmt]:
    """Return the chain with what is computed from it on the way to the loop, and read there."""
    made, wanted, longer = bound_by(chain), names_read(before), list(chain)
    held = _held_by_optimizers(module, scope, before)
    for statement in preceding(module, scope, before):
        bound = set(bindings(statement))
        if statement in chain or not isinstance(statement, ast.Assign) or bound & held:
            continue
        if names_read(statement) & made and bound & wanted and not constructs(module, statement):
            longer.append(statement)
            made |= bound
    return longer


def constructs(module: Module, statement: ast.stmt) -> bool:
    """Return True if a statement creates a model, a layer, an optimizer, a loader, an iterator or a
    compiled function: recreating one in each iteration would discard what was learnt, restart the
    data, or compile again.
    """
    value = value_of(statement) or ast.Pass()
    begins = isinstance(value, ast.Call) and is_call(value, *_MADE_ONCE)
    learns = not _asked_for_parameters(module.tree).isdisjoint(bindings(statement))
    return (
        begins or learns or any(_is_constructor(module, node) for node in nodes_of(value, ast.Call))
    )


@remembered
def _asked_for_parameters(tree: ast.Module) -> set[str]:
    """Return the names of what a file asks for its parameters, whoever's class it is."""
    return receivers_of(calls_of(tree, *PARAMETERS))


def _is_constructor(module: Module, call: ast.Call) -> bool:
    if not creates_object(call):
        return False
    path = module.names.qualified(call.func)
    own = module.names.own_class(path) if path.startswith(".") else None
    if own is not None:
        return any(base.endswith(_BASES) for base in module.names.bases(own))
    return path.startswith(("torch.nn.", "torch.optim.")) or is_call(call, _LOADER)


def _held_by_optimizers(module: Module, scope: Scope, loop: ast.stmt) -> set[str]:
    """Return the names of what steps in the loop, and of what it was created from: recreating them
    in each iteration would discard what was learnt.
    """
    stepped = receivers_of(steps(loop))
    made = [s for s in preceding(module, scope, loop) if set(bindings(s)) & stepped]
    return stepped | read_by(value_of(s) or s for s in made)


def preceding(module: Module, scope: Scope, before: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that certainly ran before this one in the scope, in order."""
    blocks: list[list[ast.stmt]] = []
    for parent in (before, *module.ancestors(before)):
        if parent is scope:
            blocks.append([s for s in getattr(scope, "body", []) if position(s) < position(before)])
            break
        if isinstance(parent, ast.stmt) and parent in module.parents:
            holder = module.parents[parent]
            if isinstance(holder, ast.stmt) and holder is not scope:
                block = module.block_of(parent)
                blocks.append(block[: block.index(parent)] if parent in block else [])
    around = {before, *module.ancestors(before)}
    for block in reversed(blocks):
        yield from (
            s for s in block if s not in around and not isinstance(s, (*FUNCTIONS, ast.ClassDef))
        )


def _makes_graph(module: Module, scope: Scope, statement: ast.stmt) -> bool:
    """Return True if the statement depends on a model or a parameter, as far as the source shows,
    and is recorded.
    """
    if isinstance(statement, ast.With) and any("no_grad" in spelled(i) for i in statement.items):
        return False
    value: ast.AST = value_of(statement) or statement
    if isinstance(value, ast.Call) and is_made_without(value) and not asks_for_gradient(value):
        return False
    for node in nodes_of(value, ast.Call):
        if plain_name(node) in {*DATA, "manual_seed"} or creates_object(node):
            return False
    if not any(isinstance(node, ast.Call | ast.BinOp | ast.Tuple) for node in walk(value)):
        return False
    loops = nodes_of(value, ast.For)
    items = {
        name for loop in loops for name in target_names(loop.target)
    }  # also those of what is read
    return any(
        _is_learned(module, scope, name)
        for name in names_attached(value) - items
        if not module.in_library(name) and ("." not in name or name.startswith("self."))
        if not hasattr(builtins, name)
    )


def _is_learned(module: Module, scope: Scope, name: str, depth: int = 6) -> bool:
    """Return True if the name is a model, a parameter, or computed from one; or a function that
    creates or reads one.
    """
    if name.startswith("self.") or depth == 0:
        return True
    values = [value for node in definitions(scope, name) if (value := value_of(node)) is not None]
    if values:
        return any(
            _makes_leaves(value)
            or (not is_made_without(value) and _reads_learned(module, scope, value, {name}, depth))
            for value in values
        )
    function = next((f for f in module.scopes if getattr(f, "name", "") == name), None)
    if function is None or isinstance(function, ast.Module):
        return not name[:1].isupper()  # an argument or a global may be a model
    own = names_bound(function) | named(function) | {name}
    body = ast.Module(function.body, [])
    return _makes_leaves(body) or _reads_learned(module, module.tree, body, own, depth)


def _makes_leaves(value: ast.AST) -> bool:
    return any(
        (creates_object(call) and "Data" not in plain_name(call)) or asks_for_gradient(call)
        for call in nodes_of(value, ast.Call)
    )


def _reads_learned(module: Module, scope: Scope, value: ast.AST, own: Set[str], depth: int) -> bool:
    return any(
        _is_learned(module, scope, other, depth - 1)
        for other in names_attached(value) - own
        if not module.in_library(other) and not hasattr(builtins, other) and "." not in other
    )


def other_reads(scope: Scope, chain: Sequence[ast.stmt], inner: ast.AST) -> list[ast.Name]:
    """Return where the scope reads what the chain computes, except in the chain itself and an inner
    node.
    """
    inside = {node for one in (inner, *chain) for node in walk(one)}
    return [n for n in names_loaded(walk_scope(scope), *bound_by(chain)) if n not in inside]
