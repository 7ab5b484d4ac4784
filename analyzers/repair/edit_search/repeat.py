"""Repeat what a backward call needs: in each iteration, in each call, or right before it.

`prior = f(w)` before a loop moves to its head; `out = net(x)`, which another backward call needs,
too, is repeated before the second one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Evidence, GraphReuse
from analyzers.explain.inplace_changes import StaleValue, stale_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import CallFrame, frames
from analyzers.explain.source_locations import reaching, root_name
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.repair.remake.chains import chains_of
from analyzers.repair.remake.closures import forward_into_closure
from analyzers.repair.remake.encoding import encoded_where_read
from analyzers.repair.remake.moving import forward_into_loop, recompute_before_backward
from analyzers.repair.remake.recompute import computed_for_next_iteration, recompute_where_used
from analyzers.repair.remake.repeated_chains import computed, draws
from analyzers.repair.remake.thread_parameter import called_again, recompute_where_read
from analyzers.repair.reschedule.fresh_forward import forward_in_loop, fresh_forward
from analyzers.repair.reschedule.schedule import schedule_of
from analyzers.repair.rewrite import head_of
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.callees import creates_object
from analyzers.source.edits import Editor
from analyzers.source.flow import names_read
from analyzers.source.project import Project
from analyzers.source.trees import nodes_of
from provenance import BackwardCall


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield recomputations of what was used twice, or computed from weights that a step changed."""
    if isinstance(evidence, GraphReuse):
        yield from _used_twice(evidence, project)
    stale = stale_of(evidence, project)
    if stale is not None and stale.nature == "step":
        yield from _after_step(stale)


def _used_twice(reuse: GraphReuse, project: Project) -> Iterator[Proposal]:
    """Yield recomputations. They are second choices where each iteration makes a value of its own
    or takes another part of one, where no step came between the uses, and where `autograd.grad`
    freed a graph that it could keep.
    """
    use = second_use(reuse, project)
    if use is None:
        return
    inside = use.features.in_closure
    for moved in forward_into_closure(use.features) if inside or not use.same_iteration else ():
        yield replace(moved, rank=moved.rank + (not inside))
    if use.same_iteration:
        could_keep = use.whole or reuse.freed.kind == "grad"
        yield from recompute_before_backward(use.features, SECOND_CHOICE * could_keep)
        yield from _before_calls(reuse.reached, project)
        return
    found = [*recompute_where_used(use.features), *computed_for_next_iteration(use.features)]
    if use.stored:
        found += encoded_where_read(use.features)
    parts = use.by_part or use.features.each_of_many  # a forward would be repeated for each
    rank = SECOND_CHOICE if use.carried or parts or use.stored or use.unchanged else 1
    yield from found
    yield from forward_into_loop(use.features, rank)
    if not parts:
        yield from _in_loops(use.features)


def _in_loops(features: ReuseFeatures) -> Iterator[Proposal]:
    """Yield what each loop around the shared frame, or around the calls that lead to it, reads of
    old values, recomputed at the head of that loop.
    """
    names = {root_name(binding.name) for binding in features.reuse.path}
    for frame in reversed(features.above):
        for loop in frame.module.loops_around(frame.statement):
            wanted, where = names & names_read(loop), "in each iteration of the loop"
            yield from _copied(frame, loop, wanted, head_of(loop), where, features.project)


def _before_calls(backward_call: BackwardCall, project: Project) -> Iterator[Proposal]:
    """Yield what a call that leads to a backward call reads, recomputed before that call."""
    for frame in reversed(frames(project, backward_call)):
        wanted, where = names_read(frame.statement), "again for this backward"
        yield from _copied(frame, frame.statement, wanted, frame.statement, where, project)


def _copied(
    frame: CallFrame,
    before: ast.stmt,
    names: set[str],
    head: ast.stmt,
    where: str,
    project: Project,
) -> Iterator[Proposal]:
    """Yield the statements before one that compute the names, repeated before another; none that
    run backward, which would train twice, or create an object, which may hold what is learned.
    """
    for chain in chains_of(frame.module, frame.scope, before, names):
        calls = [n for s in chain for n in nodes_of(s, ast.Call)]
        trains = any(reaching(project, statement, *BACKWARD_CALLS) for statement in chain)
        if not (trains or any(map(creates_object, calls))):
            cost = "Random numbers are drawn again each time." * draws(chain)
            editor = Editor(frame.module)
            yield computed(
                "recompute", editor, chain, head, where, cost, SECOND_CHOICE + 1, moved=False
            )


def _after_step(stale: StaleValue) -> Iterator[Proposal]:
    schedule = schedule_of(stale)
    if schedule is not None and schedule.straight:
        yield from fresh_forward(schedule)
        yield from called_again(stale, schedule)
    elif schedule is not None:
        yield from recompute_where_read(stale)
        yield from forward_in_loop(stale, schedule)
