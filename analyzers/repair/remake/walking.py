"""The fix for a second walk that wants a graph of its own: what it walks is made once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.reuse.story import Story
from analyzers.repair.remake.chains import constructs, in_front
from analyzers.repair.remake.makers import leading_to, made_of, makers, told
from analyzers.repair.rewrite import copy_into
from analyzers.source.edits import Editor
from analyzers.source.flow import (
    bindings,
    names_read,
    names_read_by,
    statements_of,
    walked,
)
from analyzers.source.trees import position


def walked_anew(story: Story, rank: int) -> Iterator[Proposal]:
    """What the second walk's loss is made of, once more in front of what makes that loss from it:
    where weights change between the two walks. The last statement that makes it, then with what
    that one reads."""
    shared, call = story.shared, story.root_call
    root = walked(call) if call is not None else None
    if shared is None or shared.reached is None or root is None or not story.same_pass:
        return
    if story.reuse.reached.at.frame != shared.frame or not _acts_between(shared):
        return
    module = shared.module
    before = list(in_front(module, shared.scope, shared.reached))
    made = [s for s in before if position(s) < shared.freed_at and not constructs(module, s)]
    since = [s for s in before if position(s) > shared.freed_at]
    flow = leading_to(since, names_read(root))
    editor = Editor(module)
    for chain in makers(made, made_of(since, names_read(root))):
        yield Proposal(
            "walk-anew",
            f"Compute {told(chain)} anew for the second backward",
            copy_into(editor, chain, _first_reading(flow, chain) or shared.reached),
            "The second backward learns from the weights as they are then.",
            rank,
        )
        rank += 1


def _first_reading(flow: Sequence[ast.stmt], chain: Sequence[ast.stmt]) -> ast.stmt | None:
    made = {name for statement in chain for name in bindings(statement)}
    return next((s for s in flow if names_read_by(s) & made), None)


def _acts_between(shared: Shared) -> bool:
    """Whether anything is done between the two walks, so that weights may change."""
    return any(
        isinstance(s, ast.AugAssign) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
        for s in statements_of(shared.scope)
        if shared.freed_at < position(s) < shared.reached_at
    )
