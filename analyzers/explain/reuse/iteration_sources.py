"""Find what a loop takes its variable from: `zip`, `enumerate`, unbound tensors, literal lists."""

from __future__ import annotations

import ast

from analyzers.source.flow import names_read
from analyzers.source.passes import passes
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.targets import target_names
from analyzers.source.unpacking import whole_of


def taken_from(loop: Loop, scope: Scope, name: str) -> str | None:
    """Return the collection whose elements a loop binds to `name`, through `zip` and `enumerate`;
    None for anything else.
    """
    through = passes(loop, scope)
    targets = through.targets if through is not None and not through.counted else ()
    found = (_taken(target, through.over, name) for target in targets if through is not None)
    return next((source for source in found if source is not None), None)


def _taken(target: ast.expr, source: ast.expr, name: str) -> str | None:
    while True:
        if isinstance(target, ast.Name):
            if target.id != name:
                return None
            source = whole_of(source)
            if (shared := common_operand(source)) is not None:
                return shared
            return spelled(source) if isinstance(source, ast.Name | ast.Attribute) else None
        if not isinstance(target, ast.Tuple) or not isinstance(source, ast.Call):
            return None
        inner = [i for i, t in enumerate(target.elts) if name in target_names(t)]
        call = spelled(source.func)
        if not inner:
            return None
        if call == "enumerate" and inner[0] == 1 and source.args:
            target, source = target.elts[1], source.args[0]
        elif call == "zip" and inner[0] < len(source.args):
            target, source = target.elts[inner[0]], source.args[inner[0]]
        elif isinstance(source.func, ast.Attribute) and source.func.attr == "items":
            if inner[0] != 1:
                return None
            target, source = target.elts[1], source.func.value
        else:
            return None


def common_operand(source: ast.expr) -> str | None:
    """Return the only name from which all entries of a literal collection come: `x` for `[x, x.T]`;
    None if there is none.
    """
    match source:
        case ast.List(elts=entries) | ast.Tuple(elts=entries) | ast.Dict(values=entries):
            read = [{n for n in names_read(entry) if "." not in n} for entry in entries]
            common = set.intersection(*read) if len(read) > 1 else set()
            return common.pop() if len(common) == 1 else None
    return None
