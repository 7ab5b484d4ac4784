"""Give an optimizer what no optimizer holds, where it was given what another one holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.reconnect.moving_optimizers import root_of_names
from analyzers.source.flow import bindings, statements_of, value_of
from analyzers.source.project import spelled
from provenance import CodeLine

_WHOLE = re.compile(r"[\w.]+\.parameters\(\)")


def last_holder(where: SourceLocation) -> SourceLocation:
    """Return where the last optimizer of the function is made of the module that the optimizer
    made here has: itself, if no other has it."""
    here = _made(where.statement)
    names = where.module.names
    found = where
    for statement in statements_of(where.scope) if here is not None else ():
        made = _made(statement)
        if here is None or made is None or spelled(made.args[0]) != spelled(here.args[0]):
            continue
        another = bindings(statement)[:1] != bindings(where.statement)[:1]
        if another and names.qualified(made.func) == names.qualified(here.func):
            place = CodeLine(where.module.path, made.lineno)
            found = SourceLocation(where.module, statement, place)
    return found


def given_others(where: SourceLocation, fault: SilentFault) -> Iterator[Proposal]:
    """Propose to give an optimizer whose module another one has the module that none has."""
    made = _made(where.statement)
    if made is not None and last_holder(where).statement is not where.statement:
        text = f"{root_of_names(fault.instead)}.parameters()"
        edits = (where.editor.replace(made.args[0], text),)
        title = f"Give `{bindings(where.statement)[0]}` `{text}`"
        yield Proposal("optimizer-of-others", title, edits, "", 0)


def _made(statement: ast.stmt) -> ast.Call | None:
    """Return the call of a statement that is given the parameters of a whole module."""
    match value_of(statement):
        case ast.Call(args=[given, *_]) as call if _WHOLE.fullmatch(spelled(given)):
            return call if bindings(statement) else None
    return None
