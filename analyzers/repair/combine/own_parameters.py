"""Two losses that share a forward pass, each with an optimizer of its own (a generator's and a
discriminator's): both backward calls before both steps, each for its own optimizer's parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.stepping import EACH_ITS_OWN, parameters_of
from analyzers.repair.rewrite import move_after, with_keyword
from analyzers.repair.sites.statement_facts import sole_backward
from analyzers.source.calls import steps
from analyzers.source.edits import Editor
from analyzers.source.project import spelled


def backwards_apart(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that keeps the shared graph for the second backward call, moves the step
    between the two after it, and restricts each call to what the step after it changes.
    """
    shared = story.shared
    if shared is None or not story.same_iteration:
        return
    first, second = sole_backward(shared.freed), sole_backward(shared.reached)
    block, editor = shared.module.block_of(shared.freed), Editor(shared.module)
    if first is None or second is None or shared.reached not in block:
        return
    at, end = block.index(shared.freed), block.index(shared.reached)
    moved = [s for s in block[at + 1 : end] if isinstance(s, ast.Expr) and steps(s)]
    own, other = _stepped(moved), _stepped(block[end + 1 :])
    if own is None or other is None or spelled(own.value) == spelled(other.value):
        return
    edits = [
        with_keyword(editor, first, "inputs", f"{parameters_of(editor, own)}, retain_graph=True"),
        with_keyword(editor, second, "inputs", parameters_of(editor, other)),
        *move_after(editor, moved, shared.reached),
    ]
    yield Proposal("steps-last", EACH_ITS_OWN, joined(edits), "", SECOND_CHOICE + 2)


def _stepped(block: Sequence[ast.stmt]) -> ast.Attribute | None:
    """Return the first step of the statements: `optimizer.step`."""
    found = next((call.func for statement in block for call in steps(statement)), None)
    return found if isinstance(found, ast.Attribute) else None
