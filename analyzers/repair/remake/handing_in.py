"""Edits that give a function what a value is made of, in the place of the value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.reuse.passing import Frame, arguments, call_into
from analyzers.source.calls import calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, names_bound
from analyzers.source.project import FUNCTIONS, Loop, Project, Scope, spelled
from analyzers.source.signatures import named
from analyzers.source.trees import walk


def own_names(scope: Scope, value: ast.expr) -> list[str]:
    """The names in a value that belong to the function in which it stands, in their order."""
    if not isinstance(scope, FUNCTIONS):
        return []
    own = names_bound(scope) | named(scope)
    return list(dict.fromkeys(n.id for n in _read(value) if n.id in own))


def handed_in(
    project: Project, caller: Frame, below: Frame, loop: Loop, name: str, parts: Sequence[str]
) -> list[Edit] | None:
    """`run(text)` and its parameter become `run(tower, prompts)`, and what made `text` goes if
    nothing else reads it; no edit where nothing is to be handed in. None where the function has
    other calls, reads the value outside of its loop, or calls something else by these names."""
    if not parts:
        return []
    function, module = below.scope, below.module
    call = call_into(caller, function)
    if call is None or not isinstance(function, FUNCTIONS[:2]):
        return None
    given = dict(arguments(call, module, function)).get(name)
    taken = next((a for a in function.args.args if a.arg == name), None)
    inside = set(walk(loop))
    outside = any(node.id == name and node not in inside for node in _read(function))
    known = names_bound(function) | named(function)
    if given is None or taken is None or outside or known & set(parts):
        return None
    if function.args.defaults or len(calls_to(project, function.name)) != 1:
        return None
    editor = Editor(caller.module)
    keyword = next((k for k in call.keywords if k.value is given), None)
    put = ", ".join(f"{part}={part}" if keyword is not None else part for part in parts)
    alone = [node.id for node in _read(caller.scope)].count(spelled(given)) == 1
    made = definitions(caller.scope, spelled(given)) if alone else []
    return [
        Editor(module).replace(taken, ", ".join(parts)),
        editor.replace(keyword or given, put),
        *(editor.delete(statement) for statement in made),
    ]


def _read(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
