"""The operation whose result a message says was changed in place, and lines that write to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.advice.looking import last_name, written_in_place
from analyzers.source.flow import bindings, walk_scope
from analyzers.source.project import Module

_RESULT = re.compile(
    r"output \d+ of (?:torch::autograd::)?([A-Za-z]+?)Backward\d*\b", re.IGNORECASE
)
_SHARING = re.compile(  # what shares its memory with something else, or is made of a parameter
    r"t|.*view.*|asstrided|.*transpose.*|permute|expand|select|slice|(?:un)?squeeze|split.*|chunk|"
    r"unbind.*|narrow|diagonal|alias|detach|reshape.*|broadcast|tocopy|copies|.*copyslices|"
    r"cppfunction|compiledfunction|function"
)


def result_named(message: str) -> str:
    """Return the operation whose result a message says was changed, in lower case, or ''."""
    found = _RESULT.search(message)
    name = found[1].lower() if found is not None else ""
    return "" if _SHARING.fullmatch(name) else name


def writes_to_result(operation: str, module: Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield writes in place to names that a call of the operation was bound to above them."""
    for made in module.each(ast.Assign):
        call = made.value
        if not isinstance(call, ast.Call) or _plain(last_name(call.func)) != operation:
            continue
        names = bindings(made)
        for node in walk_scope(module.scope_of(made)):
            if getattr(node, "lineno", 0) <= made.lineno:
                continue
            written = written_in_place(node, module)
            if written is not None and written.partition(".")[0].partition("[")[0] in names:
                yield written, node


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
