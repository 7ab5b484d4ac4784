"""Cuts between two passes: each pass stays whole, and what one hands to the next is numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Binding, ValueShape
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import frames
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.cut.cutting import Cutting, Site
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.scopes import (
    bound_outside,
    covers,
    goes_on,
    head_of_rerun,
    is_local,
    unbound_at,
    walked_behind,
)
from analyzers.source.flow import walk_scope
from analyzers.source.project import Loop, Module, Scope
from analyzers.source.trees import position


def at_boundary(
    cutting: Cutting, shared: Shared, loop: Loop | None, rank: int
) -> Iterator[Proposal]:
    """In the frame that both walks have in common: at the head of the loop around them, and
    behind the first walk; else between the two."""
    here = [h for h in cutting.outlived() if h.at.frame == shared.frame]
    block = [*loop.body] if loop is not None else [shared.reached]
    kept = [hop for hop in here if goes_on(hop, block)]
    least = cutting.covering([*kept, *(hop for hop in here if hop not in kept)])
    for chosen in (least, kept) if len(least) < len(kept) else (least,):  # all its names
        sites = list(_between(cutting, shared, loop, chosen, rank))
        yield from cutting.at(sites, chosen, shared.module, shared.scope)


def _between(
    cutting: Cutting, shared: Shared, loop: Loop | None, chosen: list[Binding], rank: int
) -> Iterator[Site]:
    """Each place between the two walks where these names can be cut; what no pass of the loop gives
    anew, in front of it, so that all passes are treated alike."""
    if loop is None:
        if (head := head_of_rerun(shared, cutting.project)) is not None:
            yield Site("detach-at-head", "at the head of the cell", head, rank)
        else:
            yield Site("detach-before-call", "before the next call", shared.reached, rank)
        return
    around = [outer for outer in shared.loops if _constant(chosen, outer, shared.scope)]
    if around:
        yield Site("detach-before-loop", "in front of the loop", around[-1], rank)
    rarely = shared.module.block_of(shared.freed) is not loop.body
    fresh = any(unbound_at(loop, shared.scope, hop.name) for hop in chosen)
    if not fresh:
        where = "at the head of the loop"
        yield Site("detach-at-head", where, head_of(loop), rank + rarely, guarded=True)
    if rarely and fresh:  # what each pass makes would be cut in some of them only
        return
    if not cutting.made_once and not around:  # else the first pass learns through it, no later one
        after = walked_behind(shared.module, shared.freed)
        last = _bound_behind(cutting, chosen, after, shared.module, shared.frame)
        where = "behind the backward" if last is after else "once it has its new value"
        yield Site("detach-behind-backward", where, last, rank + (not rarely), behind=True)


def _constant(hops: Sequence[Binding], loop: Loop, scope: Scope) -> bool:
    """Whether no pass of a loop gives any of these values anew; what can be changed may be filled
    anywhere."""
    return all(_is_fixed(hop.kind) and bound_outside(loop, scope, hop.name) for hop in hops)


def _is_fixed(kind: ValueShape) -> bool:
    """Whether a value holds the same tensors for as long as it lives."""
    return kind.kind in ("tensor", "tuple", "namedtuple") or kind.frozen


def _bound_behind(
    cutting: Cutting, hops: Sequence[Binding], after: ast.stmt, module: Module, frame: int
) -> ast.stmt:
    """The walk's last statement, or a later one of its block that gives a name the value that
    the next pass meets."""
    names = {hop.name for hop in hops}
    lines = [
        hop.at.line
        for hop in cutting.reuse.path
        if hop.how == "bound" and hop.at.frame == frame and hop.name in names
    ]
    block = module.block_of(after)
    later = [s for s in block if position(s) > position(after) and any(covers(s, n) for n in lines)]
    return later[-1] if later else after


def behind_yield(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Where a generator goes on: what it keeps between two passes is its own."""
    for hops, module, function in cutting.functions("bound", "argument"):
        for node in walk_scope(function):
            value = getattr(node, "value", None)
            if isinstance(node, ast.Expr | ast.Assign) and isinstance(value, ast.Yield):
                loops = module.loops_around(node)
                kept = [h for h in hops if loops and goes_on(h, [*loops[0].body])]
                where = f"where `{function.name}` goes on"
                site = Site("detach-behind-yield", where, node, rank, behind=True)
                yield from cutting.at([site], cutting.covering(kept), module, function)


def behind_walk(cutting: Cutting, shared: Shared | None, rank: int) -> Iterator[Proposal]:
    """In the functions between that frame and the walk: behind what walks there, for what
    outlives them."""
    for frame in reversed(frames(cutting.project, cutting.reuse.freed)):
        if shared is not None and frame.place.frame == shared.frame:
            return
        own = [h for h in cutting.outlived() if h.at.frame == frame.place.frame]
        kept = [h for h in own if not is_local(h, frame.scope) or "." in h.name]
        after = walked_behind(frame.module, frame.statement)
        site = Site("detach-behind-backward", "behind the backward", after, rank, behind=True)
        yield from cutting.at([site], cutting.covering(kept), frame.module, frame.scope)
