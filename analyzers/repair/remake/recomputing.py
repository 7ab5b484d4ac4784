"""Fixes for tensors that an object derived from its parameters once: compute them where used."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import spot
from analyzers.repair.remake.anew import anew_in_each_pass, moved_into_readers
from analyzers.repair.remake.caches import without_cache
from analyzers.repair.remake.constructors import out_of_constructor
from analyzers.repair.rewrite import made_anew


def recompute_where_used(story: Story) -> Iterator[Proposal]:
    """Undo a cache; or move the computation from the constructor to where it is read."""
    yield from _out_of_partial(story)
    yield from without_cache(story)
    yield from out_of_constructor(story)
    if not story.attribute:
        yield from moved_into_readers(story)
    yield from anew_in_each_pass(story)


def _out_of_partial(story: Story) -> Iterator[Proposal]:
    """`partial(f, x=g(p))` computes its argument once; `lambda *args: f(*args, x=g(p))` at each
    call."""
    places = {join.old.at for join in story.reuse.joins if join.old.at is not None}
    for place in sorted(places, key=lambda place: (place.file, place.line)):
        where = spot(story.project, place)
        call = where.call("partial") if where is not None else None
        if where is None or call is None or not call.args:
            continue
        editor = where.editor
        function, *bound = (editor.text_of(argument) for argument in call.args)
        given = [*bound, "*args", *(editor.text_of(keyword) for keyword in call.keywords)]
        text = f"lambda *args: {function}({', '.join(given)})"
        title = f"Compute it at each call of `{function}`"
        yield made_anew("compute-in-call", title, editor.replace(call, text))
