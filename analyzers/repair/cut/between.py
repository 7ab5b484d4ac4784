"""Cut between two iterations: each stays whole, and passes only numbers to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import frames
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.cut.cutting import CutSite, Cutting
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.scopes import (
    bound_outside,
    covers,
    goes_on,
    head_of_rerun,
    is_local,
    last_backward_or_step,
    unbound_at,
)
from analyzers.source.flow import walk_scope
from analyzers.source.project import Loop, Module, Scope
from analyzers.source.trees import position
from provenance import Binding, ValueShape


def at_boundary(
    cutting: Cutting, shared: Shared, loop: Loop | None, rank: int
) -> Iterator[Proposal]:
    """Yield cuts in the frame that both backward calls share: at the head of the loop around them,
    and after the first call; without a loop, between the two.
    """
    here = [h for h in cutting.outlived() if h.at.frame == shared.frame]
    block = [*loop.body] if loop is not None else [shared.reached]
    kept = [binding for binding in here if goes_on(binding, block)]
    least = cutting.covering([*kept, *(binding for binding in here if binding not in kept)])
    for chosen in (least, kept) if len(least) < len(kept) else (least,):  # all its names
        sites = list(_between(cutting, shared, loop, chosen, rank))
        yield from cutting.at(sites, chosen, shared.module, shared.scope)


def _between(
    cutting: Cutting, shared: Shared, loop: Loop | None, chosen: list[Binding], rank: int
) -> Iterator[CutSite]:
    """Yield each place between the two backward calls where these names can be cut. Names that no
    iteration rebinds are cut before the loop, so that all iterations are treated alike.
    """
    if loop is None:
        if (head := head_of_rerun(shared, cutting.project)) is not None:
            yield CutSite("detach-at-head", "at the head of the cell", head, rank)
        else:
            yield CutSite("detach-before-call", "before the next call", shared.reached, rank)
        return
    around = [outer for outer in shared.loops if _constant(chosen, outer, shared.scope)]
    if around:
        yield CutSite("detach-before-loop", "before the loop", around[-1], rank)
    rarely = shared.module.block_of(shared.freed) is not loop.body
    fresh = any(unbound_at(loop, shared.scope, binding.name) for binding in chosen)
    if not fresh:
        where = "at the head of the loop"
        yield CutSite("detach-at-head", where, head_of(loop), rank + rarely, guarded=True)
    if rarely and fresh:  # the value of each iteration would be cut in only some of them
        return
    if not cutting.made_once and not around:  # else only the first one learns through it
        after = last_backward_or_step(shared.module, shared.freed)
        last = _last_binding(cutting, chosen, after, shared.module, shared.frame)
        where = "after the backward" if last is after else "once it has its new value"
        yield CutSite("detach-behind-backward", where, last, rank + (not rarely), follows=True)


def _constant(bindings: Sequence[Binding], loop: Loop, scope: Scope) -> bool:
    """Return True if no iteration of a loop rebinds any of these values; a mutable value may be
    filled anywhere.
    """
    return all(
        _is_fixed(binding.kind) and bound_outside(loop, scope, binding.name) for binding in bindings
    )


def _is_fixed(kind: ValueShape) -> bool:
    """Return True if a value holds the same tensors for as long as it lives."""
    return kind.kind in ("tensor", "tuple", "namedtuple") or kind.frozen


def _last_binding(
    cutting: Cutting, bindings: Sequence[Binding], after: ast.stmt, module: Module, frame: int
) -> ast.stmt:
    """Return the last statement of the backward call, or a later one of its block that binds what
    the next iteration meets.
    """
    names = {binding.name for binding in bindings}
    lines = [
        binding.at.line
        for binding in cutting.reuse.path
        if binding.how == "bound" and binding.at.frame == frame and binding.name in names
    ]
    block = module.block_of(after)
    later = [s for s in block if position(s) > position(after) and any(covers(s, n) for n in lines)]
    return later[-1] if later else after


def after_yield(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Yield cuts where a generator resumes: what it keeps between two iterations is local."""
    for bindings, module, function in cutting.functions("bound", "argument"):
        for node in walk_scope(function):
            value = getattr(node, "value", None)
            if isinstance(node, ast.Expr | ast.Assign) and isinstance(value, ast.Yield):
                loops = module.loops_around(node)
                kept = [h for h in bindings if loops and goes_on(h, [*loops[0].body])]
                where = f"where `{function.name}` goes on"
                site = CutSite("detach-behind-yield", where, node, rank, follows=True)
                yield from cutting.at([site], cutting.covering(kept), module, function)


def after_backward(cutting: Cutting, shared: Shared | None, rank: int) -> Iterator[Proposal]:
    """Yield cuts in the functions between the shared frame and the backward call: after the call,
    for what outlives them.
    """
    for frame in reversed(frames(cutting.project, cutting.reuse.freed)):
        if shared is not None and frame.place.frame == shared.frame:
            return
        own = [h for h in cutting.outlived() if h.at.frame == frame.place.frame]
        kept = [h for h in own if not is_local(h, frame.scope) or "." in h.name]
        after = last_backward_or_step(frame.module, frame.statement)
        site = CutSite("detach-behind-backward", "after the backward", after, rank, follows=True)
        yield from cutting.at([site], cutting.covering(kept), frame.module, frame.scope)
