"""Decide whether a script takes stored gradients for those of an earlier time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.evidence import SilentFault
from analyzers.explain.keyed_entries import entries, keys_of, stores, without_entries
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import names_held, resolve_location, returns_of, root_of
from analyzers.source.calls import ZERO_GRAD, calls_of, calls_to, own_calls, steps
from analyzers.source.detached import WITHOUT_GRAPH
from analyzers.source.flow import bindings, definitions, names_read, statements_of, walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.recording import recorded
from analyzers.source.statement_ranges import statements_after
from analyzers.source.targets import assigned_pairs, each_taken, taken_by, target_names
from analyzers.source.writes import writes_in_place

MAX_CALLS = 3  # that hand a gradient on
_PASSING = frozenset({"print", "zip", "enumerate", "append", "extend", "mul_", "div_"})
_NOT_RECORDED = WITHOUT_GRAPH | {"grad"}  # of a parameter: no graph is made of them

Computed = ast.BinOp | ast.AugAssign | ast.Call


def taken_as_old(fault: SilentFault, project: Project) -> bool:
    """Return True if the script treats a stored gradient as an old one although it is the current
    tensor: it combines it with current gradients; or it combines what was stored for long with
    parameters for a later backward call; or it reads what it took between two backward calls only
    after the second.
    """
    paths = names_held(fault.holders)
    if any(_taken_between(fault, project, name) for name in without_entries(paths)):
        return True
    plain = {root_of(name) for name in without_entries(paths)}
    for module in project.modules.values():
        taken = _taken_before(module, keys_of(paths), project)
        for node in module.nodes:
            nested = isinstance(node, ast.BinOp) and isinstance(module.parents[node], ast.BinOp)
            if nested or not isinstance(node, Computed):
                continue
            operands = _operands(node)
            own_names = plain | _named(module, node, taken)
            names = own_names | _computed_after(fault, module, node, own_names, project)
            read = [_read_by(module, operand) for operand in operands]
            whole = [not taken.isdisjoint(ast.walk(operand)) for operand in operands]
            kept = [_holds(one, names) or own for one, own in zip(read, whole, strict=True)]
            if not any(kept) or _is_rebound(fault, own_names, module, node):
                continue
            fresh = _fresh_names(module, module.scope_of(node), project) - names
            fresh |= _computed_after(fault, module, node, fresh, project) - names
            now = [any(n.endswith(".grad") or n in fresh for n in one) for one in read]
            if any(now) and (now != kept or sum(now) > 1):
                return True
            others = [o for o, mine in zip(operands, kept, strict=True) if not mine]
            if not fault.doubtful and isinstance(node, ast.BinOp) and recorded(module, node):
                if any(_of_parameters(module, other) for other in others):
                    return True
    return False


def _taken_between(fault: SilentFault, project: Project, name: str) -> bool:
    """Return True if a function names gradients after one backward call, calls backward again, and
    only then reads the name: it expects what the first call left. A name that is written to is a
    handle.
    """
    where = resolve_location(project, fault.call.at) if fault.call is not None else None
    if where is None or "." in name:
        return False
    block, at_backward = where.block, where.block.index(where.statement)
    taken = [n for n, s in enumerate(block[:at_backward]) if name in bindings(s)]
    if not taken or not _reads_gradient(block[taken[-1]]):
        return False
    before, between = block[: taken[-1]], block[taken[-1] + 1 : at_backward]
    ran_before = any(calls_of(s, "torch.Tensor.backward") for s in before)
    calls = [call for s in between for call in [*steps(s), *calls_of(s, *ZERO_GRAD)]]
    uses = [s for s in block[at_backward + 1 :] if name in names_read(s)]
    early = any(name in names_read(s) for s in between)
    return (
        ran_before and bool(uses) and not (calls or early or any(_writes_to(s, name) for s in uses))
    )


def _writes_to(statement: ast.stmt, name: str) -> bool:
    """Return True if a statement that reads the name writes in place to it or to a part of it."""
    if isinstance(statement, ast.AugAssign) and root_of(spelled(statement.target)) == name:
        return True
    items = {
        item
        for loop in ast.walk(statement)
        if isinstance(loop, ast.For)
        for target, source in taken_by(loop)
        if name in names_read(source)
        for item in target_names(target)
    }
    return any(
        isinstance(node, ast.Attribute)
        and writes_in_place(node.attr)
        and not names_read(node.value).isdisjoint({name, *items})
        for node in ast.walk(statement)
    )


def stored_gradients(
    module: Module, keys: set[str], project: Project
) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yield the statements that store a gradient under one of the keys, each
    with the stored value.
    """
    for statement, value in stores(module, keys):
        fresh = _fresh_names(module, module.scope_of(statement), project)
        if _reads_gradient(value) or (isinstance(value, ast.Name) and value.id in fresh):
            yield statement, value


def _taken_before(module: Module, keys: set[str], project: Project) -> set[ast.AST]:
    """Return where the source reads an entry under one of the keys before it stores a gradient
    there.
    """
    put = [statement for statement, _ in stored_gradients(module, keys, project)]
    return {
        node
        for node in entries(module, keys)
        if isinstance(node.ctx, ast.Load)
        and not any(s.lineno < node.lineno and _alike(module, s, node) for s in put)
    }


def _alike(module: Module, one: ast.AST, other: ast.AST) -> bool:
    return module.scope_of(one) is module.scope_of(other)


def _named(module: Module, node: ast.AST, taken: Set[ast.AST]) -> set[str]:
    """Return the local names of the entries that were read."""
    return {
        target.id
        for statement in (statements_of(module.scope_of(node)) if taken else ())
        for target, value in assigned_pairs(statement)
        if value in taken and isinstance(target, ast.Name)
    }


def handed_back(
    statement: ast.stmt, project: Project, depth: int = MAX_CALLS
) -> Iterator[ast.stmt]:
    """Yield what the project's functions that are called on this line return
    or yield, recursively.
    """
    for call in ast.walk(statement):
        if isinstance(call, ast.Call):
            for _, function in project.functions_called(call):
                for returned in (*returns_of(function), *_yields_of(function)):
                    yield returned
                    value = returned.value if isinstance(returned, ast.Return) else None
                    if isinstance(value, ast.Name):
                        yield from definitions(function, value.id)
                    if depth > 1:
                        yield from handed_back(returned, project, depth - 1)


def _yields_of(function: ast.AST) -> list[ast.stmt]:
    statements = [node for node in walk_scope(function) if isinstance(node, ast.Expr)]
    return [*(node for node in statements if isinstance(node.value, ast.Yield))]


def _holds(read: Set[str], names: Set[str]) -> bool:
    """Return True if one of the names is read; for an attribute only its last part must agree,
    because its owner has other names elsewhere.
    """
    last = {name.rpartition(".")[2] for name in names if "." in name}
    return bool(read & names) or any("." in n and n.rpartition(".")[2] in last for n in read)


def _operands(node: Computed) -> list[ast.expr]:
    """Return the operands of a sum or product of any length, or the arguments of a call."""
    found: list[ast.expr] = []
    todo: list[ast.expr] = []
    match node:
        case ast.BinOp():
            todo = [node]
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=value):
            todo = [target, value]  # a factor is a number that was made of them: no other gradient
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            todo = [] if name in _PASSING else [owner, *args]
        case ast.Call(func=ast.Name(id=name), args=args):
            todo = [] if name in _PASSING else [*args]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.BinOp):
            todo += [part.left, part.right]
        else:
            found.append(part)
    return found


def _read_by(module: Module, node: ast.expr) -> set[str]:
    """Return the names that an expression reads, and for a loop variable the collection."""
    read = names_read(node)
    if isinstance(node, ast.Attribute):  # an update reads what it writes to
        read.add(spelled(node))
    for target, source in each_taken(module, node):
        if read & set(target_names(target)):
            read |= names_read(source)
    return read


def _fresh_names(
    module: Module, scope: Scope, project: Project, depth: int = MAX_CALLS
) -> set[str]:
    """Return the local names of a function that hold gradients just taken there or by functions
    that it calls.
    """
    names = {
        name
        for statement in statements_of(scope)
        if isinstance(statement, ast.Assign)
        for name in bindings(statement)
        if "." not in name and _takes_gradients(statement, project)
    }
    for caller, call in calls_to(project, getattr(scope, "name", "")) if depth else ():
        given = _fresh_names(caller, caller.scope_of(call), project, depth - 1)
        names |= {
            parameter
            for parameter, value in arguments(call, module, scope)
            if _reads_gradient(value) or (isinstance(value, ast.Name) and value.id in given)
        }
    return names


def _takes_gradients(statement: ast.stmt, project: Project) -> bool:
    return any(_reads_gradient(part) for part in (statement, *handed_back(statement, project)))


def _reads_gradient(node: ast.AST) -> bool:
    return any(
        name.endswith(".grad") and name != "torch.autograd.grad" for name in names_read(node)
    )


def _computed_after(
    fault: SilentFault, module: Module, node: ast.AST, names: Set[str], project: Project
) -> set[str]:
    """Return what the function computes from the names after the call that overwrote them: `a, b =
    flat(before), flat(now)`; everything that it computes if it is called after that call.
    """
    scope = module.scope_of(node)
    written = _written_in(fault, module, scope)
    if not written and _is_called_after(fault, getattr(scope, "name", ""), project):
        written = [0]
    return {
        name
        for statement in statements_of(scope)
        if written and statement.lineno > written[-1]
        for target, value in assigned_pairs(statement)
        if names & names_read(value)
        for name in target_names(target)
    }


def _is_called_after(fault: SilentFault, name: str, project: Project) -> bool:
    """Return True if the block of the call that overwrote the stored gradients calls a function
    later.
    """
    where = resolve_location(project, fault.call.at) if fault.call is not None else None
    later = statements_after(where.module, where.statement) if where is not None and name else []
    return any(own_calls(statement, name) for statement in later)


def _written_in(fault: SilentFault, module: Module, scope: Scope) -> list[int]:
    """Return the lines of a function from which the overwriting call was made."""
    return [
        place.line
        for place in (fault.call.stack if fault.call is not None else ())
        if (statement := _at(module, place.file, place.line))
        and module.scope_of(statement) is scope
    ]


def _is_rebound(
    fault: SilentFault, names: Set[str], module: Module, node: ast.expr | ast.stmt
) -> bool:
    """Return True if plain names are rebound between the overwriting call and this expression,
    which then reads the new gradients.
    """
    if fault.call is None or any("." in name for name in names):
        return False
    scope, read = module.scope_of(node), node.lineno
    written = _written_in(fault, module, scope)
    if not written:
        return False
    bound = [s.lineno for s in statements_of(scope) if names & set(bindings(s))]
    if written[-1] <= read:
        return any(written[-1] <= line < read for line in bound)
    around = [loop for loop in module.loops_around(node) if _within(loop, written[-1])]
    again = [line for line in bound if around and _within(around[0], line)]
    return not around or any(line >= written[-1] or line < read for line in again)


def _at(module: Module, file: str, line: int) -> ast.stmt | None:
    return module.statement_at(line) if file == module.path else None


def _within(loop: ast.stmt, line: int) -> bool:
    return loop.lineno <= line <= (loop.end_lineno or line)


def _of_parameters(module: Module, node: ast.expr) -> bool:
    """Return True if the expression uses a loop variable over `parameters()`."""
    looped = {
        name
        for target, source in each_taken(module, node)
        for name in target_names(target)
        if any(n.endswith("parameters") for n in names_read(source))
    }
    return any(
        isinstance(part, ast.Name)
        and part.id in looped
        and getattr(module.parents[part], "attr", "") not in _NOT_RECORDED
        for part in ast.walk(node)
    )
