"""One walk in front of a loop that walks its loss again for each part of the weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import joined
from analyzers.source.calls import calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import bound_within, names_read, walked
from analyzers.source.targets import target_names

CLIPPING = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads_with_norm_")


def walks_for_each_part(story: Story) -> bool:
    """Whether each pass of the loop walks one loss, made in front of it, for the part of the
    weights that the pass is about (its `inputs=`, or what it clips), and none steps: one walk gives
    all their gradients. A loop that only counts is about no part."""
    loop, call = story.loop, story.root_call
    if not isinstance(loop, ast.For) or call is None or not story.reuse.same_root:
        return False
    root = walked(call)
    read = names_read(root) if root is not None else set()
    bound = bound_within(loop)
    if not story.same_line or story.steps_inside or not read or read & bound:
        return False
    of_part = any(word.arg == "inputs" for word in _of_a_part(loop, call))
    return of_part or _clips_a_part(loop)


def _clips_a_part(loop: ast.For) -> bool:
    """Whether the passes clip the gradients of what the loop goes through."""
    parts = set(target_names(loop.target))
    clips = (call for statement in loop.body for call in calls_named(statement, *CLIPPING))
    return any(names_read(argument) & parts for call in clips for argument in call.args)


def _of_a_part(loop: ast.For, call: ast.Call) -> list[ast.keyword]:
    """The options of a walk that name what the loop goes through."""
    parts = set(target_names(loop.target))
    return [word for word in call.keywords if names_read(word.value) & parts]


def walk_in_front(story: Story, rank: int = 0) -> Iterator[Proposal]:
    """The walk goes in front of the loop, and reaches every weight."""
    loop, call, shared = story.loop, story.root_call, story.shared
    if shared is None or call is None or not isinstance(loop, ast.For):
        return
    statement = shared.reached
    if not isinstance(statement, ast.Expr) or statement.value is not call or call.args:
        return
    editor = Editor(shared.module)
    kept = [w for w in call.keywords if w not in _of_a_part(loop, call)]
    options = ", ".join(editor.text_of(word) for word in kept)
    line = f"{editor.text_of(call.func)}({options})"
    edits = joined([editor.delete(statement), editor.insert_before(loop, line)])
    title = f"Call `{line}` once, in front of the loop"
    told = "One backward leaves the gradients of every part."
    yield Proposal("walk-in-front", title, edits, told, rank)
