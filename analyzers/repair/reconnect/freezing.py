"""Fixes where parameters were frozen: what freezes them, and where they are wanted again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import (
    SourceLocation,
    reaching,
    resolve_location,
)
from analyzers.repair.blocks import lines_with
from analyzers.source.callees import is_call, own_name
from analyzers.source.calls import OPTIMIZER_STEP, is_false
from analyzers.source.edits import Editor
from analyzers.source.flow import mentions
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.statement_ranges import ahead_of, statements_after
from analyzers.source.trees import walk
from provenance import CodeLine

_FLAG = "torch.Tensor.requires_grad_"
_STEPS, _BACKWARD = (OPTIMIZER_STEP, "torch.optim.Optimizer.minimize"), ("torch.Tensor.backward",)


@dataclass(frozen=True)
class Freezing:
    """A statement that freezes parameters before a call (or backward call) that failed.

    It comes with the statements between the two.
    """

    where: SourceLocation
    between: tuple[ast.stmt, ...]


def _frozen_ahead(stack: Sequence[CodeLine], project: Project) -> Freezing | None:
    """Return the last statement before the failure that freezes parameters, innermost call first.

    Return None if the freeze is undone in between.
    """
    for place in reversed(stack):
        where = resolve_location(project, place)
        if where is None:
            continue
        ahead = ahead_of(where.module, where.statement)
        for at in reversed(range(len(ahead))):
            flags = flags_set(ahead[at], project)
            if True in flags:
                break
            if False in flags:
                lines = CodeLine(where.module.path, ahead[at].lineno)
                return Freezing(SourceLocation(where.module, ahead[at], lines), (*ahead[at + 1 :],))
    return None


def _frozen_at(stack: Sequence[CodeLine], project: Project) -> Freezing | None:
    """Return the statement that the tracer saw freeze parameters, innermost call first.

    It comes with the statements up to the step (or backward call) for which it froze them.
    """
    for place in reversed(stack):
        where = resolve_location(project, place)
        if where is None:
            continue
        for one in (where.statement, *where.module.ancestors(where.statement)):
            if isinstance(one, FUNCTIONS) or not isinstance(one, ast.stmt):
                break
            if between := _until_learnt(where.module, one, project):
                at = CodeLine(where.module.path, one.lineno)
                return Freezing(SourceLocation(where.module, one, at), between)
    return None


def _until_learnt(module: Module, statement: ast.stmt, project: Project) -> tuple[ast.stmt, ...]:
    """Return the statements up to the next optimizer step, else up to the last backward call."""
    after = statements_after(module, statement)
    stepping = [at for at, one in enumerate(after) if reaching(project, one, *_STEPS)][:1]
    last_backward = [at for at, one in enumerate(after) if reaching(project, one, *_BACKWARD)][-1:]
    ends = stepping or last_backward
    return (*after[: ends[0] + 1],) if ends else ()


def left_frozen(evidence: MissingGraph, project: Project) -> Freezing | None:
    """Return what was frozen for an earlier backward call or step, and still is, or None."""
    found = _frozen_ahead(evidence.stack, project)
    if found is None and evidence.lost_by == "frozen":
        found = _frozen_at(evidence.ended_stack, project)
    return found if found is not None and any(thawed_again(found, project)) else None


def thawed_again(found: Freezing, project: Project) -> Iterator[Proposal]:
    """Propose the same statement with `True`, after the last step (or backward call) of the
    freeze."""
    used = [s for s in found.between if reaching(project, s, *_STEPS, *_BACKWARD)]
    lines = _thawing(found.where, project) if used else []
    if lines:
        statement = found.where.statement
        title = f"Unfreeze after line {used[-1].lineno} what line {statement.lineno} froze"
        edit = found.where.editor.insert_after(used[-1], *lines)
        yield Proposal("unfreeze", title, (edit,))


def _thawing(where: SourceLocation, project: Project) -> list[str]:
    """Return the freezing statement's source with `True`.

    A call of a function that only freezes becomes a call of the script's own opposite, or of the
    module's `requires_grad_(True)`.
    """
    editor, statement = where.editor, where.statement
    said = [node for node in walk(statement) if is_false(node)]
    if said:  # what else it says may stay
        return lines_with(editor, statement, [editor.replace(said[0], "True")])
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return []
    name, func = own_name(call), call.func
    if (opposite := _opposite(name, project)) is not None:
        renamed = editor.text_of(func).removesuffix(name) + opposite
        return lines_with(editor, statement, [editor.replace(func, renamed)])
    of = call.args[0] if call.args else func.value if isinstance(func, ast.Attribute) else None
    return [f"{spelled(of)}.requires_grad_(True)"] if of is not None else []


def _opposite(freezes: str, project: Project) -> str | None:
    """Return the name of a function that equals this one with `True` for `False`, or None."""
    thawing = {
        _body_source(f).replace("False", "True") for _, f in project.functions_named(freezes)
    }
    others = (f for _, f in project.each(ast.FunctionDef) if f.name != freezes)
    return next((f.name for f in others if _body_source(f) in thawing), None)


def _body_source(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return a function's parameters and body as source, without its docstring."""
    body = function.body[ast.get_docstring(function) is not None :]
    return ast.dump(function.args) + "".join(map(ast.dump, body))


def flags_set(statement: ast.stmt, project: Project) -> set[bool]:
    """Return the values that a statement sets `requires_grad` to, itself or by a script's
    function."""
    if not isinstance(statement, ast.Expr | ast.For | ast.Assign):
        return set()
    found = set[bool]()
    for node in walk(statement):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
                found |= _constants([value])
            case ast.Call(args=given) if is_call(node, _FLAG):
                found |= _constants(given)
            case ast.Call(args=given, keywords=words):
                flags = _constants([*given, *(word.value for word in words)])
                found |= flags if flags and _passes_on(own_name(node), project) else set()
    return found


def _constants(values: Sequence[ast.expr]) -> set[bool]:
    return {v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, bool)}


def _passes_on(name: str, project: Project) -> bool:
    """Return True if a function of this name sets `requires_grad` to its argument."""
    return any(
        _sets(node, argument.arg)
        for _, function in project.functions_named(name)
        for argument in (*function.args.args, *function.args.kwonlyargs)
        for node in walk(function)
    )


def _sets(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
            return mentions(value, name)
        case ast.Call(args=[value]) if is_call(node, _FLAG):
            return mentions(value, name)
    return False


def frozen_among(params: Sequence[str], project: Project) -> SourceLocation | None:
    """Return the last statement that freezes the modules of these parameters, at its call."""
    owners = {name.rpartition(".")[0] for name in params}
    owners |= {owner.rpartition(".")[0] for owner in owners} - {""}
    found = [
        SourceLocation.of(module, statement)
        for module, statement in project.each(ast.stmt)
        if isinstance(statement, ast.For | ast.Expr | ast.Assign)
        if False in flags_set(statement, project)
        if any(mentions(statement, owner) for owner in owners)
    ]
    exact = [one for one in found if any(mentions(one.statement, o) for o in _innermost(owners))]
    return next(iter([*reversed(exact), *reversed(found)]), None)


def _innermost(owners: set[str]) -> set[str]:
    """Return the paths that contain none of the other paths."""
    return {one for one in owners if not any(other.startswith(f"{one}.") for other in owners)}


def unfrozen(where: SourceLocation) -> Iterator[Proposal]:
    """Propose the freezing statement with `True`."""
    said = [node for node in walk(where.statement) if is_false(node)]
    if said:
        title = f"Let what line {where.statement.lineno} freezes learn"
        yield Proposal("unfreeze", title, (where.editor.replace(said[0], "True"),))


def flags_noted(project: Project) -> Iterator[Proposal]:
    """Propose `[(p, p.requires_grad) for p in …]` for a generator of such pairs.

    A generator reads the flags only when it is consumed, after they have changed.
    """
    for module, node in project.each(ast.GeneratorExp):
        held = module.parents.get(node)
        if isinstance(held, ast.Assign) and attributes_loaded(walk(node.elt), "requires_grad"):
            editor = Editor(module)
            edit = editor.replace(node, f"[{editor.text_of(node)[1:-1]}]")
            title = f"Note the flags in `{spelled(held.targets[0])}` before they change"
            yield Proposal("flags-noted", title, (edit,))
