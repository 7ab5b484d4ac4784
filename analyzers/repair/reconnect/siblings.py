"""An argument that a function hands to each of several like parts, and to one of them not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import text_with
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import names_read, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.signatures import parameters
from analyzers.source.trees import nodes_of

MOST = 4  # calls that are tried


def handed_as_siblings(names: Sequence[str], project: Project) -> Iterator[Proposal]:
    """Propose `self.head(h, part_of(params, "head"))` for `self.head(h)`, if one of the names of
    what gets no gradient is that of the part: `params['head.weight']`.

    The function passes a part of its argument on to a sibling:
    `self.lift(x, part_of(params, "lift"))`.
    """
    wanted = {word for name in names for word in re.findall(r"\w+", name)}
    found = (one for one in _left_out(project) if one[0] in wanted)
    for _, module, call, given in islice(found, MOST):
        _, end = Editor(module).span(call.args[-1])
        title = f"Hand `{given}` to `{spelled(call.func)}`, as its siblings get it"
        edit = Edit(module.path, end, end, f", {given}")
        yield Proposal("as-siblings", title, (edit,))


def _left_out(project: Project) -> Iterator[tuple[str, Module, ast.Call, str]]:
    """Yield an object's parts with calls of them without the last argument that its other parts
    get, and that."""
    for module, function in project.each(ast.FunctionDef):
        names, editor = set(parameters(function)) - {"self"}, Editor(module)
        calls = [one for node in walk_scope(function) if (one := of_part(node)) is not None]
        for part, call in calls:
            for other, sibling in calls:
                *rest, last = sibling.args
                handed = names_read(last) & names
                if other != part and handed and len(rest) == len(call.args):
                    if rest and not handed & names_read(call):
                        yield part, module, call, _in_words_of(editor, last, other, part)
                        break


def _in_words_of(editor: Editor, given: ast.expr, other: str, part: str) -> str:
    """Return the argument's source with another part's name: `"lift"` and `"lift.weight"`
    change."""
    edits = [
        editor.replace(node, editor.text_of(node).replace(other, part, 1))
        for node in nodes_of(given, ast.Constant)
        if isinstance(node.value, str)
        if node.value == other or node.value.startswith(f"{other}.")
    ]
    return text_with(editor, given, edits)


def of_part(node: ast.AST) -> tuple[str, ast.Call] | None:
    """Return the name of the called part (`head` of `self.head(h)`) and the call, or None."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=part), args=[_, *_]):
            return part, node
    return None
