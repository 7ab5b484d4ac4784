"""Reset a carried value, by the statement that gave it its first value.

`total = 0` before a loop is repeated at its head, or after the backward call in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.repair.cut.windows import emptied, gathered_emptied
from analyzers.repair.edit_search.circumstances import SecondUse, second_use
from analyzers.repair.remake.chains import constructs, preceding
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.scopes import last_backward_or_step
from analyzers.source.calls import makes_leaf
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, bound_within
from analyzers.source.project import Loop, Project

_TRADEOFF = "Assumes that what one pass leaves behind does not belong to the next."


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield resets of each carried name in each loop that both calls share."""
    use = second_use(evidence, project)
    if use is not None and use.stored:
        yield from gathered_emptied(use.features)
        yield from emptied(use.features, rank=3)
    if use is None or not use.carried:
        return
    for loop in use.shared.loops:
        for name in dict.fromkeys(carrier.name for carrier in use.features.carriers):
            yield from _of(name, loop, use)


def _of(name: str, loop: Loop, use: SecondUse) -> Iterator[Proposal]:
    module = use.shared.module
    first = _first_value(name, loop, use)
    if first is None or name not in bound_within(loop):
        return
    editor = Editor(module)
    lines, last = editor.lines_of(first), last_backward_or_step(module, use.shared.freed)
    at_head = (editor.insert_before(head_of(loop), *lines),)
    title = f"Reset `{name}` at the head of the loop"
    yield Proposal("reset-at-head", title, at_head, _TRADEOFF, 2)
    behind = (editor.insert_after(last, *lines),)
    title = f"Reset `{name}` after its backward"
    yield Proposal("reset-total", title, behind, _TRADEOFF, 3)


def _first_value(name: str, loop: Loop, use: SecondUse) -> ast.Assign | None:
    """Return the last statement before a loop that gives the name alone a value: one without a
    leaf, which would learn in each iteration.
    """
    made = [
        statement
        for statement in preceding(use.shared.module, use.shared.scope, loop)
        if isinstance(statement, ast.Assign) and bindings(statement) == [name]
    ]
    if not made or makes_leaf(made[-1].value) or constructs(use.shared.module, made[-1]):
        return None
    return made[-1]
