"""Let a hand-written backward visit each node once, after all nodes that were made from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import joined
from analyzers.repair.engine.operations import ORDER, EngineOperation, operation_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import names_read, statements_of
from analyzers.source.project import Project, spelled
from analyzers.source.trees import nodes_of

_NODE, _OWN = "node", {"node", "order", "seen", "visit"}
_TITLE = "Visit each node once, after all nodes that were made from it"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Visits:
    """What a backward does in each node (`lines`), from which root it starts, and the loop by which
    it goes on (`child` in `inputs`), in terms of a node."""

    root: str
    child: str
    inputs: str
    lines: Sequence[str]

    def in_order(self) -> list[str]:
        """Return the same in topological order."""
        return [
            "order, seen = [], set()",
            "",
            f"def visit({_NODE}):",
            f"    if id({_NODE}) not in seen:",
            f"        seen.add(id({_NODE}))",
            f"        for {self.child} in {self.inputs}:",
            f"            visit({self.child})",
            f"        order.append({_NODE})",
            "",
            f"visit({self.root})",
            f"for {_NODE} in reversed(order):",
            *(f"    {line}" for line in self.lines),
        ]


def in_topological_order(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield proposals that correct the order of a list of nodes, or that make such a list where the
    backward calls itself in each input, or keeps inputs in a queue."""
    operation = operation_of(evidence, ORDER, project)
    if operation is None:
        return
    yield from _sorted(operation)
    owner = operation.module.class_of(operation.function) or operation.module.tree
    for function in [one for one in owner.body if isinstance(one, Function)]:
        if not names_read(function) & _OWN:
            yield from _recursive(function, operation)
    if operation.function in owner.body:
        yield from _queued(operation)


def _sorted(operation: EngineOperation) -> Iterator[Proposal]:
    """Correct where a node is appended to the list, and which end of it comes first."""
    editor, function = Editor(operation.module), operation.function
    for inner in nodes_of(function, ast.FunctionDef):
        appended = _appending(inner) if inner is not function else None
        loop = next((one for one in nodes_of(inner, ast.For) if _again(one, inner)), None)
        if appended is None or loop is None:
            continue
        edits = []
        if appended.lineno < loop.lineno:
            edits = [editor.delete(appended), editor.insert_after(loop, editor.text_of(appended))]
        listed = spelled(appended.value.func.value)  # type: ignore[attr-defined]
        loops = (one for one in nodes_of(function, ast.For) if spelled(one.iter) == listed)
        edits += [editor.replace(one.iter, f"reversed({listed})") for one in loops]
        if edits:
            yield Proposal("topological-order", _TITLE, joined(edits), whole=True)


def _appending(function: ast.FunctionDef) -> ast.Expr | None:
    """Return the statement by which a function appends its argument to a list."""
    given = {one.arg for one in function.args.args}
    for statement in statements_of(function):
        match statement:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name(id=name)])
            ) if name in given:
                return statement
    return None


def _again(loop: ast.For, function: Function) -> bool:
    """Return True if a loop calls the function that it is in for each of what it goes through."""
    child = spelled(loop.target)
    for call in nodes_of(loop, ast.Call):
        match call:
            case ast.Call(func=ast.Name(id=name), args=[given, *_]) if name == function.name:
                return spelled(given) == child
            case ast.Call(func=ast.Attribute(value=given, attr=name), args=[], keywords=[]):
                if name == function.name and spelled(given) == child:
                    return True
    return False


def _recursive(function: Function, operation: EngineOperation) -> Iterator[Proposal]:
    """Make the list where a function calls itself, as its last statement, for each input."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    arguments = function.args.args
    if len(arguments) != 1 or len(body) < 2:
        return
    *own, loop = body
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or not _again(loop, function):
        return
    editor, first = Editor(operation.module), arguments[0].arg
    seeds = f"{first}.{operation.gradient}"
    begun = [one for one in own if isinstance(one, ast.Assign) and spelled(one.targets[0]) == seeds]
    own = [one for one in own if one not in begun]
    lines = [_renamed(line, first) for line in editor.lines_of(*own)]
    inputs = _renamed(editor.text_of(loop.iter), first)
    made = Visits(first, editor.text_of(loop.target), inputs, lines).in_order()
    edits = [*editor.delete_all(own), _in_place_of(loop, made, editor)]
    yield Proposal("topological-order", _TITLE, joined(edits), whole=True)


def _queued(operation: EngineOperation) -> Iterator[Proposal]:
    """Make the list where nodes are taken from a queue, and their inputs put into it."""
    editor, function = Editor(operation.module), operation.function
    for begun, loop in zip(function.body, function.body[1:], strict=False):
        match begun, loop:
            case (
                ast.Assign(targets=[ast.Name(id=queue)], value=ast.List(elts=[root])),
                ast.While(body=[ast.Assign(targets=[ast.Name(id=taken)]), *own]),
            ) if queue in names_read(loop.test):
                further = [one for one in own if queue in names_read(one)]
                inputs = _queued_by(further[0], editor) if len(further) == 1 else None
                if inputs is None or names_read(function) & (_OWN - {taken}):
                    continue
                own = [one for one in own if one not in further]
                lines = [_renamed(line, taken) for line in editor.lines_of(*own)]
                child, found = inputs
                made = Visits(editor.text_of(root), child, _renamed(found, taken), lines)
                edits = [editor.delete(begun), _in_place_of(loop, made.in_order(), editor)]
                yield Proposal("topological-order", _TITLE, joined(edits), whole=True)


def _queued_by(statement: ast.stmt, editor: Editor) -> tuple[str, str] | None:
    """Return what a statement puts into a queue: `("one", "node.inputs")`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="extend"), args=[inputs])):
            return "each", editor.text_of(inputs)
        case ast.AugAssign(op=ast.Add(), value=inputs):
            return "each", editor.text_of(inputs)
        case ast.For(target=target, iter=inputs, body=[ast.Expr(value=ast.Call())]):
            return editor.text_of(target), editor.text_of(inputs)
    return None


def _in_place_of(statement: ast.stmt, lines: Sequence[str], editor: Editor) -> Edit:
    indent = editor.indent_of(statement)
    text = "".join(f"{editor.newline}{indent if line else ''}{line}" for line in lines)
    return editor.replace(statement, text.removeprefix(f"{editor.newline}{indent}"))


def _renamed(text: str, name: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(name)}\b", _NODE, text)
