"""Updates that a script makes itself, on gradients that nothing in the text clears."""

from __future__ import annotations

import ast
import re

from analyzers.evidence import SilentFault
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.source.flow import names_read, walk_scope
from analyzers.source.project import Project, spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, remembered
from provenance import CodeLine

# Whatever may clear a gradient, or take its place.
_CLEARING = re.compile(
    r"zero|clear|reset|autograd|\bgrad\(|\bdel\b|setattr|grad\w*(?:\.data)?\s*[-+*/]?=[^=]"
    r"|grad\w*\.\w+_\(|grad\w*\["
)


def check_updates(machine: Machine, node: ast.For | ast.While, frame: InterpreterFrame) -> None:
    """Report a loop that runs backward and updates `p.data -= lr * p.grad` without clearing
    `p.grad`.

    `p` must be made outside of the loop, and no source of the project may clear a gradient. Torch
    adds to gradients; a hand-written engine that was not sent may clear them in its own backward.
    """
    if _clears(machine.project):
        return
    updates = [update for update in _updates(node) if _outlives(update, machine, node)]
    if not updates:
        return
    traversals = [w for w in machine.tape.calls if _within(w.call.at, node, frame)]
    if len(traversals) < 2 or any(w.call.kind != "backward" for w in traversals):
        return
    backward_call = traversals[-1].call
    machine.report(
        ("zero", backward_call.at.file, backward_call.at.line),
        SilentFault(
            kind="uncleared-gradients",
            how="predicted",
            at=CodeLine(backward_call.at.file, backward_call.at.line, backward_call.at.function),
            params=_leaves(updates[0], node),
            call=backward_call,
            detail="nothing clears the gradients between two updates",
        ),
    )


def _clears(project: Project) -> bool:
    """Return True if the source may clear a gradient, or does not use torch."""
    known = project.kept.get(_clears)
    if known is None:
        texts = project.files.values()
        known = project.kept[_clears] = not any("torch" in text for text in texts) or any(
            _CLEARING.search(text) for text in texts
        )
    return bool(known)


@remembered
def _updates(loop: ast.For | ast.While) -> list[ast.Assign | ast.AugAssign]:
    """Return the statements `p.data -= lr * p.grad`, or the same written out."""
    found: list[ast.Assign | ast.AugAssign] = []
    for node in walk_scope(loop):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Attribute) and target.attr == "data":
                wanted = f"{spelled(target.value)}.grad"
                if any(spelled(n) == wanted for n in nodes_of(node.value, ast.Attribute)):
                    found.append(node)
    return found


def _target(update: ast.Assign | ast.AugAssign) -> ast.Attribute:
    target = update.targets[0] if isinstance(update, ast.Assign) else update.target
    assert isinstance(target, ast.Attribute)
    return target


def _sources(update: ast.Assign | ast.AugAssign, loop: ast.AST) -> list[ast.expr]:
    """Return what the update changes: a name's own tensor, or the iterable of an inner loop."""
    target = _target(update)
    taken = [
        node.iter
        for node in walk_scope(loop)
        if isinstance(node, ast.For) and names_read(target) & set(target_names(node.target))
    ]
    return taken or [target.value]


def _outlives(update: ast.Assign | ast.AugAssign, machine: Machine, loop: ast.stmt) -> bool:
    """Return True if what is updated was made before the loop."""
    names = [names_read(source) for source in _sources(update, loop)]
    bound = machine.facts_of(loop).bound_names
    return all(name and not name & bound for name in names)


def _leaves(update: ast.Assign | ast.AugAssign, loop: ast.AST) -> tuple[str, ...]:
    """Return the leaves, as far as a fix can name them."""
    sources = [ast.unparse(source) for source in _sources(update, loop)]
    own = ast.unparse(_target(update).value)
    return tuple(name for name in sources if name == own or name.endswith(".parameters()"))


def _within(at: CodeLine, loop: ast.For | ast.While, frame: InterpreterFrame) -> bool:
    return at.file == frame.file and loop.lineno <= at.line <= (loop.end_lineno or loop.lineno)
