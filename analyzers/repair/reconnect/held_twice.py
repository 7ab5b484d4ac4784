"""Give an optimizer what no optimizer holds, where it was given what another one holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.reconnect.moving_optimizers import root_of_names
from analyzers.source.callees import is_call
from analyzers.source.flow import bindings, statements_of, value_of
from analyzers.source.project import spelled
from provenance import CodeLine


def holders(where: SourceLocation) -> list[SourceLocation]:
    """Return where the function makes optimizers of the whole module that the one made here has,
    in order: this one among them, if it has a whole module."""
    made = [(s, call) for s in statements_of(where.scope) if (call := _made(s)) is not None]
    here = next((call for statement, call in made if statement is where.statement), None)
    if here is None:
        return []
    names, given = where.module.names, spelled(here.args[0])
    alike = [
        (statement, call.lineno)
        for statement, call in made
        if spelled(call.args[0]) == given
        and names.qualified(call.func) == names.qualified(here.func)
    ]
    path = where.module.path
    return [SourceLocation(where.module, one, CodeLine(path, line)) for one, line in alike]


def given_others(where: SourceLocation, fault: SilentFault) -> Iterator[Proposal]:
    """Propose to give an optimizer whose module another one has the module that none has."""
    made, names = _made(where.statement), {bindings(one.statement)[0] for one in holders(where)}
    if made is not None and len(names) > 1:
        text = f"{root_of_names(fault.instead)}.parameters()"
        edits = (where.editor.replace(made.args[0], text),)
        title = f"Give `{bindings(where.statement)[0]}` `{text}`"
        yield Proposal("optimizer-of-others", title, edits, "", 0)


def _made(statement: ast.stmt) -> ast.Call | None:
    """Return the call of a statement that is given the parameters of a whole module."""
    match value_of(statement):
        case ast.Call(args=[ast.Call(args=[], keywords=[]) as given, *_]) as call:
            whole = is_call(given, "torch.nn.Module.parameters")
            return call if whole and bindings(statement) else None
    return None
