"""Fix the order of the scaler's calls, and train in single precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.advice.training import half_parameters
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.repair.rewrite import move_into
from analyzers.source.callees import is_call
from analyzers.source.edits import Editor
from analyzers.source.project import Module, Project, spelled


def scaled_once(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield proposals that remove a second `unscale_` or `step` of one optimizer before `update()`,
    or add an `update()` after a `step` that has none.
    """
    for module in project.modules.values():
        for block in _blocks(module):
            yield from _once(module, block, "unscale_", 1)
            yield from _once(module, block, "step", 2)
            yield from _updated(module, block)


def unscaled_with_the_step(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield proposals that move unscaling and clipping into the `if` that steps; else that remove
    one `unscale_` if several functions call it.
    """
    found: list[tuple[Module, ast.stmt]] = []
    for module in project.modules.values():
        for block in _blocks(module):
            for statement in block:
                if any(name == "unscale_" for name, _ in _scaler_calls(statement)):
                    found.append((module, statement))
                    yield from _into_condition(module, block, statement)
    for module, statement in found if len(found) > 1 else ():
        title = "Leave the unscaling to the other call"
        yield Proposal("scaled-once", title, (Editor(module).delete(statement),), "", 3)


def _into_condition(module: Module, block: list[ast.stmt], first: ast.stmt) -> Iterator[Proposal]:
    """Yield a proposal that moves the statements from the unscaling on into
    the `if` with the step.
    """
    rest = block[block.index(first) :]
    at = next((n for n, s in enumerate(rest) if isinstance(s, ast.If) and _steps(s)), None)
    if at is None:
        return
    editor, condition = Editor(module), rest[at]
    assert isinstance(condition, ast.If)
    edits = move_into(editor, rest[:at], condition.body[0])
    title = "Unscale and clip only when a step is taken"
    yield Proposal("scaled-with-step", title, edits, "", 2)


def _steps(condition: ast.If) -> bool:
    return any(
        name == "step" for statement in condition.body for name, _ in _scaler_calls(statement)
    )


def _blocks(module: Module) -> Iterator[list[ast.stmt]]:
    for node in module.nodes:
        block = getattr(node, "body", None)
        if isinstance(block, list):
            yield block


def _scaler_calls(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the method and the argument of a scaler's call that is a whole statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if "scaler" in spelled(call.func.value).lower():
            yield call.func.attr, spelled(call.args[0]) if call.args else ""


def _once(module: Module, block: list[ast.stmt], method: str, rank: int) -> Iterator[Proposal]:
    seen: set[str] = set()
    for statement in block:
        for name, given in _scaler_calls(statement):
            if name == "update":
                seen.clear()
            elif name == method and given in seen:
                edit = Editor(module).delete(statement)
                title = f"Call `{method}` once for each update"
                yield Proposal("scaled-once", title, (edit,), "", rank)
            elif name == method:
                seen.add(given)


def _updated(module: Module, block: list[ast.stmt]) -> Iterator[Proposal]:
    called = [(name, statement) for statement in block for name, _ in _scaler_calls(statement)]
    steps = [statement for name, statement in called if name == "step"]
    if steps and all(name != "update" for name, _ in called):
        owner = spelled(steps[-1].value.func.value)  # type: ignore[attr-defined]
        edit = Editor(module).insert_after(steps[-1], f"{owner}.update()")
        yield Proposal("scaled-once", "Update the scaler after its steps", (edit,), "", 1)


def in_single_precision(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that removes `.half()` from what is trained and leaves the forward to
    autocast.
    """
    for module in project.modules.values():
        for call in module.each(ast.Call):
            if half_parameters(call, module) is None or not is_call(call, "torch.Tensor.half"):
                continue
            owner = call.func.value  # type: ignore[attr-defined]
            statement, editor = module.parents.get(call), Editor(module)
            if isinstance(statement, ast.Expr):
                edit = editor.delete(statement)
            else:
                edit = editor.replace(call, editor.text_of(owner))
            title = f"Keep `{spelled(owner)}` in single precision"
            yield Proposal("single-precision", title, (edit,), "It needs more memory.")
