"""Reset a carried value, by the statement that gave it its first value.

`total = 0` before a loop is repeated at its head, or after a backward call that only some
iterations make.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.blocks import joined
from analyzers.repair.cut.detaching import starts_as_none
from analyzers.repair.cut.expected import visible
from analyzers.repair.cut.resetting import (
    made_for_each,
    reset_by_call,
    reset_for_samples,
    reset_of_all_layers,
)
from analyzers.repair.cut.windows import cut_window, emptied, gathered_emptied
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.repair.remake.chains import constructs, preceding
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.scopes import last_backward_or_step
from analyzers.source.calls import makes_leaf
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, bound_within, names_read, statements_of
from analyzers.source.gathered_tensors import is_empty, joined_to
from analyzers.source.loop_iterations import in_each_iteration
from analyzers.source.project import Loop, Project
from analyzers.source.random_order import fed_at_random

_TRADEOFF = "Assumes that nothing of one iteration belongs to the next."


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield resets of each carried name in each loop that both calls share."""
    use = second_use(evidence, project)
    if use is not None and use.stored:
        yield from gathered_emptied(use.features)
        yield from emptied(use.features, rank=3)
    if use is not None and use.features.bound_inside:
        yield from cut_window(use.features, rank=3 if use.stored else 2 * use.summed)
    yield from made_for_each(use.features) if use is not None else ()
    if use is None or not use.carried:
        return
    if not use.stored:
        yield from reset_of_all_layers(use.features)
        yield from reset_for_samples(use.features)
        yield from reset_by_call(use.features)
    yield from _to_none(use.features)
    shared = use.shared
    for loop in shared.loops if shared is not None else ():
        for name in dict.fromkeys(carrier.name for carrier in use.features.carriers):
            yield from _of(name, loop, use.features, project)


def _to_none(features: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a reset of an object's attribute that is None before the first iteration."""
    attribute, loop = f"self.{features.attribute}", features.loop
    kinds = {module.class_of(statement) for module, _, statement in features.binders} - {None}
    if not features.attribute or loop is None or features.name not in visible(features):
        return
    if any(starts_as_none(kind, attribute) for kind in kinds if kind is not None):
        edit = Editor(features.frame.module).insert_before(head_of(loop), f"{features.name} = None")
        title = f"Reset `{features.name}` at the head of the loop"
        yield Proposal("reset-at-head", title, (edit,), _TRADEOFF, 3)


def _of(name: str, loop: Loop, features: ReuseFeatures, project: Project) -> Iterator[Proposal]:
    shared = features.frame
    module = shared.module
    first = _first_value(name, loop, shared)
    if first is None or name not in bound_within(loop):
        return
    editor = Editor(module)
    lines, last = editor.lines_of(first), last_backward_or_step(module, shared.freed)
    if in_each_iteration(loop, shared.reached):
        at_head: tuple[Edit, ...] = (editor.insert_before(head_of(loop), *lines),)
        title = f"Reset `{name}` at the head of the loop"
        gathers = is_empty(first.value) and any(joined_to(name, s) for s in statements_of(loop))
        rank = -2 * SECOND_CHOICE if gathers else 2  # one iteration's values are gathered in it
        if not gathers and not features.averaged and fed_at_random(name, loop, project):
            rank = -SECOND_CHOICE
            if not _is_read_between(name, first, loop, shared):
                at_head = joined([editor.delete(first), *at_head])
        yield Proposal("reset-at-head", title, at_head, _TRADEOFF, rank)
    else:
        behind = (editor.insert_after(last, *lines),)
        title = f"Reset `{name}` after its backward"
        yield Proposal("reset-total", title, behind, _TRADEOFF, 3)


def _first_value(name: str, loop: Loop, shared: Shared) -> ast.Assign | None:
    """Return the last statement before a loop that gives the name alone a value: one without a
    leaf, which would learn in each iteration.
    """
    made = [
        statement
        for statement in preceding(shared.module, shared.scope, loop)
        if isinstance(statement, ast.Assign) and bindings(statement) == [name]
    ]
    if not made or makes_leaf(made[-1].value) or constructs(shared.module, made[-1]):
        return None
    return made[-1]


def _is_read_between(name: str, first: ast.Assign, loop: Loop, shared: Shared) -> bool:
    """Return True if a statement between the first value and the loop reads the name."""
    before = [*preceding(shared.module, shared.scope, loop)]
    return any(name in names_read(s) for s in before[before.index(first) + 1 :])
