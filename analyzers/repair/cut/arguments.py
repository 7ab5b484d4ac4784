"""Make a loss's target constant: the argument that has no derivative."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.advice.training import loss_call
from analyzers.evidence import KnownError
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import resolve_location
from analyzers.source.callees import keyword
from analyzers.source.edits import Editor
from analyzers.source.project import Project, spelled
from analyzers.source.trees import walk


def detached_argument(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield proposals that detach the target where the loss receives it, or swap prediction and
    target.
    """
    where = resolve_location(project, error.at)
    for call in walk(where.statement) if where is not None else ():
        if where is None or not isinstance(call, ast.Call) or loss_call(call, where.module) is None:
            continue
        target = keyword(call, "target", "y")
        if target is None and len(call.args) > 1:
            target = call.args[1]
        if target is None:
            continue
        editor = where.editor
        title = f"Detach the target `{spelled(target)}`"
        yield Proposal("detach-target", title, (editor.append_to(target, ".detach()"),), "", 0)
        yield from _swapped(editor, call)


def _swapped(editor: Editor, call: ast.Call) -> Iterator[Proposal]:
    if len(call.args) < 2 or any(isinstance(one, ast.Starred) for one in call.args[:2]):
        return
    first, second = call.args[:2]
    edits = (
        editor.replace(first, editor.text_of(second)),
        editor.replace(second, editor.text_of(first)),
    )
    yield Proposal("swapped-arguments", "Give the prediction first, then the target", edits, "", 1)
