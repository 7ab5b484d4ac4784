"""Find the call that decides an option of a backward call (`retain_graph`, `create_graph`).

A helper may pass options on (`def derivative(y, x, **options): return grad(y, x, ones,
**options)`); then the option is set where the helper is called for this backward call, and its
other calls stay the same.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise

from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import arguments, call_into, frames
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.rewrite import with_keyword
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import FUNCTIONS, Module, Scope, spelled
from analyzers.source.signatures import named
from provenance import BackwardCall, CodeLine


@dataclass(frozen=True)
class OptionSite:
    """The call that decides an option, the option's name there, and the callee."""

    module: Module
    statement: ast.stmt
    call: ast.Call
    option: str
    place: CodeLine
    given: ast.expr | None = None

    def set_to(self, value: str = "True") -> Edit:
        """Return the edit that sets the option."""
        editor = Editor(self.module)
        if self.given is not None:
            return editor.replace(self.given, value)
        return with_keyword(editor, self.call, self.option, value)


def option_site(
    story: ReuseFeatures, backward_call: BackwardCall, option: str
) -> OptionSite | None:
    """Return where an option of this backward call is decided; None if the source is not known."""
    where = resolve_location(story.project, backward_call.at)
    call = where.call(*BACKWARD_CALLS) if where is not None else None
    if where is None or call is None:
        return None
    statement = where.module.statement_at(call.lineno, call.col_offset) or where.statement
    site = OptionSite(where.module, statement, call, option, backward_call.at)
    stack = frames(story.project, backward_call)[::-1]
    for inner, caller in pairwise(stack):
        name = _handed_on(inner.scope, site.call, site.option)
        outer = call_into(caller, inner.scope) if name else None
        if not name or outer is None:
            break
        given = dict(arguments(outer, inner.module, inner.scope)).get(name)
        site = OptionSite(caller.module, caller.statement, outer, name, caller.place, given)
    return site


def _handed_on(function: Scope, call: ast.Call, option: str) -> str:
    """Return the name under which a function's callers set an option that it passes on; empty if it
    does not.
    """
    if not isinstance(function, FUNCTIONS):
        return ""
    set_to = {k.arg: spelled(k.value) for k in call.keywords}
    if option in set_to:
        return set_to[option] if set_to[option] in named(function) else ""
    rest = function.args.kwarg
    return option if rest is not None and set_to.get(None) == rest.arg else ""
