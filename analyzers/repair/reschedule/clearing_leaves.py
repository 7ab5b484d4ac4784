"""Clear gradients elsewhere than before a backward call: those of leaves that no optimizer holds,
in each call of a closure, and after the step that uses several backward calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.clearing import (
    clear_before_backward,
    in_outer_loops,
    optimizer_stepped,
    spelled_alone,
)
from analyzers.repair.reschedule.stepping import step_after_backward
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.callees import plain_name
from analyzers.source.calls import ZERO_GRAD, calls_of, gradients_read, receivers_of, steps
from analyzers.source.flow import definitions, names_bound, names_read, statements_of, value_of
from analyzers.source.project import Project, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk

MAX_CLEARED = 6  # names: more than a person would clear one by one
PARTLY = "of the calls before each step only the last one counts: the others' gradients are cleared"


def clear_leaves(where: SourceLocation, leaves: Sequence[str]) -> Iterator[Proposal]:
    """Yield proposals that clear the gradients of leaves, which the script updates itself, before
    the backward call: by the script's own clear, moved into the loop, or each by name; those of a
    model by the model.
    """
    for own in _too_seldom(where):
        line = where.editor.text_of(own)
        edits = [where.editor.delete(own), where.editor.insert_before(where.statement, line)]
        title = f"Call `{line}` before each backward"
        yield Proposal("zero-grad", title, joined(edits), "", -1)
    owners = list(dict.fromkeys(_owner(path, where) for path in leaves if "." in path))
    plain = [path for path in leaves if path.isidentifier()]
    lines = [f"{name}.grad = None" for name in plain] + [f"{name}.zero_grad()" for name in owners]
    yield from _by_hand(where, lines, [*plain, *owners])


def clear_engine_leaves(
    where: SourceLocation, leaves: Sequence[str], gradient: str, project: Project
) -> Iterator[Proposal]:
    """Yield proposals that reset each leaf of a hand-written engine as its class initialises a new
    one: by a method of the script's own that does so, else here; if the source loops over the
    leaves to update them, so does the reset.
    """
    empty = _empty(gradient, project)
    if empty is None:
        return
    for line in _own_clears(where, leaves, gradient, project):
        edit = where.editor.insert_before(where.statement, line)
        yield Proposal("zero-grad", f"Call `{line}` before each backward", (edit,), "", -1)
    lines = [_emptied(path, gradient, empty) for path in leaves if path.isidentifier()]
    if deeper := [path for path in leaves if not path.isidentifier()]:
        loop = _updating_loop(where, gradient)
        if loop is not None:
            name = spelled(loop.target)
            lines += [f"for {name} in {ast.unparse(loop.iter)}:"]
            lines += [f"    {_emptied(name, gradient, empty)}"]
        elif {re.split(r"[.\[]", path)[0] for path in deeper} - names_read(where.scope):
            return
        else:
            lines += [_emptied(path, gradient, empty) for path in deeper]
    yield from _by_hand(where, lines, leaves[:4])


def _by_hand(
    where: SourceLocation, lines: Sequence[str], whose: Sequence[str]
) -> Iterator[Proposal]:
    if lines and len(lines) <= MAX_CLEARED:
        quoted = ", ".join(f"`{name}`" for name in whose)
        edit = where.editor.insert_before(where.statement, *lines)
        title = f"Clear the gradients of {quoted} before each backward"
        yield Proposal("clear-by-hand", title, (edit,), "", 0)


def _empty(gradient: str, project: Project) -> ast.expr | None:
    """Return the value with which a leaf's class initialises the attribute, in terms of `self`
    alone.
    """
    for _, function in project.each(ast.FunctionDef):
        given = {argument.arg for argument in function.args.args[1:]}
        for node in walk(function) if function.name == "__init__" else ():
            for target, value in assigned_pairs(node):
                if isinstance(target, ast.Attribute) and target.attr == gradient:
                    if not given & names_read(value):
                        return value
    return None


def _own_clears(
    where: SourceLocation, leaves: Sequence[str], gradient: str, project: Project
) -> Iterator[str]:
    """Yield calls of methods that loop over leaves and write a new gradient, of the objects that
    the leaves belong to or that are made of what holds them."""
    clearing = [
        (owner, function.name)
        for module, function in project.each(ast.FunctionDef)
        if (owner := module.class_of(function)) is not None and _clears(function, gradient)
    ]
    owners = {re.split(r"[.\[]", path)[0] for path in leaves}
    for name in names_bound(where.scope) if clearing else ():
        values = map(value_of, definitions(where.scope, name))
        made = [value for value in values if isinstance(value, ast.Call)]
        kinds = {plain_name(one) for one in made if owners & {name, *names_read(one)}}
        for _, kind in project.each(ast.ClassDef):
            kinds |= {*map(spelled, kind.bases)} if kind.name in kinds else set()
        for owner, method in clearing:
            if owner.name in kinds:
                yield f"{name}.{method}()"


def _clears(function: ast.FunctionDef, gradient: str) -> bool:
    """Return True for a method without arguments that loops to write this attribute, and nothing
    else, by values that do not depend on what it was."""
    match function.body[-1]:
        case ast.For(body=[ast.Assign(targets=[ast.Attribute(attr=written)], value=value)]):
            read = {node.attr for node in walk(value) if isinstance(node, ast.Attribute)}
            return written == gradient not in read and len(function.args.args) == 1
    return False


def _emptied(path: str, gradient: str, empty: ast.expr) -> str:
    """Return `temp.grad = np.zeros_like(temp.data)` for `self.grad = np.zeros_like(self.data)`."""
    value = re.sub(r"\bself\b", path, ast.unparse(empty))
    return f"{path}.{gradient} = {value}"


def _updating_loop(where: SourceLocation, gradient: str) -> ast.For | None:
    """Return the loop after the backward call that uses the gradients."""
    for statement in statements_after(where.module, where.statement):
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            if f"{statement.target.id}.{gradient}" in names_read(statement):
                return statement
    return None


def _owner(leaf: str, where: SourceLocation) -> str:
    """Return the model that a leaf belongs to, as the function spells it: `self.net` for
    `self.net.2.bias`.
    """
    parts = leaf.split(".")[:-1]
    paths = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    known = names_read(where.scope)
    return next((path for path in paths if path in known and path != "self"), parts[0])


def _too_seldom(where: SourceLocation) -> Iterator[ast.Expr]:
    """Yield clears in an outer block of the same function: once for many iterations."""
    for statement in in_outer_loops(where):
        if isinstance(statement, ast.Expr):
            if re.fullmatch(r"[\w.]+\.zero_grad\(\)", spelled_alone(statement)):
                yield statement


def backward_in_closure(where: SourceLocation) -> ast.stmt | None:
    """Return the first statement with a backward call in the closure that the step gets, or
    None."""
    calls = steps(where.statement)
    given = {spelled(a) for call in calls for a in (*call.args, *(k.value for k in call.keywords))}
    for node in nodes_of(where.scope, ast.FunctionDef):
        if node.name in given:
            return next(
                (s for s in statements_of(node) if calls_of(s, "torch.Tensor.backward")), None
            )
    return None


def clear_in_closure(where: SourceLocation) -> Iterator[Proposal]:
    """Propose `zero_grad()` before the closure's backward call in place of one before the step."""
    name, backward = optimizer_stepped(where), backward_in_closure(where)
    if name is not None and backward is not None:
        before = where.block[: where.block.index(where.statement)][::-1]
        since = takewhile(lambda s: not (steps(s) or calls_of(s, *BACKWARD_CALLS)), before)
        ahead = [s for s in since if spelled_alone(s).startswith(f"{name}.zero_grad(")]
        edits = [where.editor.insert_before(backward, f"{name}.zero_grad()")]
        edits += [where.editor.delete(s) for s in ahead]
        title = f"Clear the gradients of `{name}` in the closure"
        yield Proposal("zero-grad", title, joined(edits))


def clears_each_call(fault: SilentFault, project: Project) -> Sequence[ast.Expr]:
    """Return the statements that clear the gradients before or after each backward call, whereas
    the step comes after several of them.

    Return nothing if the script reads gradients: then it may gather them itself; nor if the step
    is given a closure, which it calls several times.
    """
    step, backward = _places(fault, project)
    if step is None or backward is None or backward.block is step.block:
        return []
    if step.module is not backward.module or any(
        any(gradients_read(m)) for m in project.modules.values()
    ):
        return []
    if any(
        call.args and optimizer_stepped(step) in receivers_of([call])
        for call in steps(step.statement)
    ):
        return []
    return [s for s in backward.block if isinstance(s, ast.Expr) and calls_of(s, *ZERO_GRAD)]


def clear_elsewhere(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Propose to step after the backward call, else to clear the gradients before it; where several
    calls are to be added up, to clear after the step.
    """
    where = resolve_location(project, fault.at)
    if fault.detail == PARTLY:
        yield from clear_after_step(fault, project)
    elif where is not None:
        moved = list(step_after_backward(where))
        yield from moved or clear_before_backward(where, again=True)


def clear_after_step(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that clears after the step instead of with each backward call."""
    step, _ = _places(fault, project)
    clears = clears_each_call(fault, project)
    if step is None or not clears:
        return
    edits = step.editor.delete_all(clears)
    following = statements_after(step.module, step.statement)
    if not any(calls_of(s, *ZERO_GRAD) for s in following):
        lines = [spelled(clear.value) for clear in clears]
        edits.append(step.editor.insert_after(step.statement, *lines))
    yield Proposal("zero-grad", "Clear the gradients after each step", joined(edits), "", 0)


def _places(
    fault: SilentFault, project: Project
) -> tuple[SourceLocation | None, SourceLocation | None]:
    at = fault.call.at if fault.call is not None else None
    return resolve_location(project, fault.at), resolve_location(project, at)
