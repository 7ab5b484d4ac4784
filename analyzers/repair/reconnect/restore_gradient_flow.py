"""Fixes that let the gradient reach a parameter without one: its cuts are removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.explain.origins import origins_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined
from analyzers.repair.reconnect.codebook_lookup import looked_up_again
from analyzers.repair.reconnect.cutting_expressions import cut_from, cuts_in
from analyzers.repair.reconnect.differentiating import differentiable_gradients
from analyzers.repair.reconnect.dropped_argument import given_to_part
from analyzers.repair.reconnect.enable_recording import recording, switched_off_at
from analyzers.repair.reconnect.fast_weights import as_weights
from analyzers.repair.reconnect.function_none_grad import handed_on
from analyzers.repair.reconnect.functional import called_with
from analyzers.repair.reconnect.missing_gradients import Cut
from analyzers.repair.reconnect.moved_cuts import (
    cut_other_reads,
    later_cut,
    narrower_cut,
    other_cut,
    passed_on,
)
from analyzers.repair.reconnect.resampling import sampled
from analyzers.repair.reconnect.round_trips import not_through_array
from analyzers.repair.reconnect.softening import (
    differentiable,
    is_probability,
    straight_through,
)
from analyzers.repair.reconnect.step_functions import choosing
from analyzers.repair.reconnect.tensor_from_scalars import filled
from analyzers.repair.reconnect.uncutting import without_cut
from analyzers.repair.value_only.arrays import torch_edits
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, names_read, own_expressions, walk_scope
from analyzers.source.project import Project, spelled
from analyzers.source.samples import samples

# by the same name, with the same arguments, in `math` and in torch
_OF_BOTH = frozenset(
    {"exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "sin", "cos", "tan"}
    | {"asin", "acos", "atan", "sinh", "cosh", "tanh"}
)


def fed_again(cut: Cut, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Propose every way to carry the gradient past one cut.

    A functional call with the written weights, the statement without its cut, recording, torch in
    place of NumPy, and a sample or value that has a gradient.
    """
    if cut.withheld is not None:
        yield from handed_on(cut.withheld, rank)
        return
    if cut.unpassed is not None:
        yield from given_to_part(cut.unpassed, rank)
        return
    where = cut.where
    if derived := list(differentiable_gradients(where, rank)):
        yield from derived
        return
    for instead in not_through_array(where, project, rank):
        yield instead
        rank += 1
    for instead in (*as_weights(where, project, rank), *looked_up_again(where, project, rank)):
        yield instead
        rank += 1
    for instead in called_with(where, project, rank):
        yield instead
        rank += 1
    if switched_off_at(where) is not None:
        yield from recording(where, project, rank)
    yield from filled(where, rank)
    if in_torch := joined([*torch_edits(where), *_math(where)]):
        title = "Use torch's functions, which keep the graph"
        yield Proposal("torch-functions", title, in_torch, "", rank)
    narrower = [*narrower_cut(where, rank), *later_cut(where, rank)]
    yield from narrower
    for other in other_cut(where, rank):
        yield other
        rank += 1
    if not narrower and not passed_on(where):
        detached = list(cut_other_reads(where, rank))
        yield from detached
        for whole in without_cut(where, rank + len(detached)):
            yield replace(whole, edits=(*whole.edits, *_with_torch(where)))
    if not narrower:
        yield from _passed_earlier(where, project, rank)
    if not cuts_in(where.statement) or any(choosing(where)):
        soft = is_probability(where)
        yield from differentiable(where, rank if soft else SECOND_CHOICE)
        yield from straight_through(where, SECOND_CHOICE if soft else rank)
    yield from sampled(where, rank)


def _math(where: SourceLocation) -> Iterator[Edit]:
    """Yield `torch` functions for those of `math` in a statement that cuts by nothing else."""
    math = alias(where.module, "math")
    if any((cuts_in(where.statement), *samples(where.statement))):
        return
    for node in own_expressions(where.statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = (name for one in node.args for name in names_read(one))
            of_names = any(name.partition(".")[0] != math for name in given)
            if spelled(node.func.value) == math and node.func.attr in _OF_BOTH and of_names:
                yield where.editor.replace(node.func.value, alias(where.module, "torch"))


def _passed_earlier(where: SourceLocation, project: Project, rank: int) -> Iterator[Proposal]:
    """Propose straight-through step functions before the cut, and the statement without it.

    If step functions produced the cut value, its graph alone would yield zero gradients.
    """
    uncut = next(without_cut(where), None)
    names = {name for one in cuts_in(where.statement) for name in names_read(cut_from(one))}
    origins = [o for o in origins_of(where, names, project) if o.scope is where.scope]
    passed = [p for origin in origins for p in straight_through(origin)]
    if uncut is not None and passed:
        edits = joined([*uncut.edits, *(edit for p in passed for edit in p.edits)])
        yield Proposal(passed[0].strategy, passed[0].title, edits, passed[0].tradeoff, rank)


def _with_torch(where: SourceLocation) -> Iterator[Edit]:
    """Yield `torch.exp` for `math.exp` around what is a tensor now, or names bound to one."""
    math, bound = alias(where.module, "math"), set(bindings(where.statement))
    for node in walk_scope(where.scope):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if spelled(node.func.value) != math:
            continue
        own = where.module.statement_at(node.lineno, node.col_offset) is where.statement
        if names_read(node) & bound or (own and cuts_in(ast.Expr(node))):
            yield where.editor.replace(node.func.value, alias(where.module, "torch"))
