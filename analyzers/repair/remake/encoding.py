"""Fix stored encodings that are used in several backward calls: store what
they were computed from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import SourceLocation, hops_at, resolve_location
from analyzers.source.callees import operation, own_name
from analyzers.source.calls import calls_of, operations_in
from analyzers.source.edits import Editor
from analyzers.source.flow import definitions, names_read, statements_of, walk_scope
from analyzers.source.project import Project, spelled
from analyzers.source.trees import nodes_of
from analyzers.source.writes import unsliced, writes

_JOINING = ("stack", "cat")


def encoded_where_read(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals for `z = self.encode(x)` and `self.seen.append(z)` if nothing else reads `z`:
    store `x`, and call `self.encode` on what the class assembles, `torch.stack(self.seen)`. This
    comes first if nothing else on the way to the backward call is encoded: after a cut, all of it
    would not learn.
    """
    for _, where in hops_at(story.project, story.reuse.path, "bound"):
        match where.statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                if spelled(call.func).startswith("self.") and len(call.args) == 1:
                    once = _encodes_once(story, own_name(call))
                    wanted = -SECOND_CHOICE * once
                    yield from _with_inputs_kept(story.project, where, name, call, wanted)


def _encodes_once(story: ReuseFeatures, encode: str) -> bool:
    spots = (resolve_location(story.project, place) for place in story.reuse.reached.stack)
    scopes = {id(where.scope): where.scope for where in spots if where is not None}
    calls = (n for s in scopes.values() for n in walk_scope(s) if isinstance(n, ast.Call))
    return [own_name(call) for call in calls].count(encode) == 1


def _with_inputs_kept(
    project: Project, where: SourceLocation, name: str, call: ast.Call, rank: int
) -> Iterator[Proposal]:
    owner, editor = where.module.class_of(where.statement), Editor(where.module)
    loads = [n for n in nodes_of(where.scope, ast.Name) if n.id == name]
    puts = [c for c in calls_of(where.scope, "list.append") if [*map(spelled, c.args)] == [name]]
    if (
        owner is None or len(puts) != 1 or len(loads) != 2
    ):  # one where it is computed, one where it is stored
        return
    kept = spelled(puts[0].func).removesuffix(".append")
    joined = [c for c in operations_in(owner, _JOINING) if c.args and spelled(c.args[0]) == kept]
    if not joined or not _used_as_whole(project, owner, kept):
        return
    if _changes_between(where, call.args[0], puts[0]):
        return
    function, given = editor.text_of(call.func), editor.text_of(call.args[0])
    edits = [editor.delete(where.statement), editor.replace(puts[0].args[0], given)]
    edits += [editor.replace(one, f"{function}({editor.text_of(one)})") for one in joined]
    title = f"Keep in `{kept}` what `{function}` is given, and call it where that is read"
    tradeoff = "All that is kept is computed again in each iteration."
    yield Proposal("store-inputs", title, tuple(edits), tradeoff, rank)


def _changes_between(where: SourceLocation, given: ast.expr, put: ast.Call) -> bool:
    """Return True if the argument of a call has another meaning where its result is put into a
    list.
    """
    read = names_read(given)
    changing = [d for name in read for d in definitions(where.scope, name)]
    for statement in statements_of(where.scope):
        changing += [statement for w in writes(statement) if names_read(unsliced(w.target)) & read]
    return any(where.statement.lineno < s.lineno <= put.lineno for s in changing)


def _used_as_whole(project: Project, owner: ast.ClassDef, kept: str) -> bool:
    """Return True if a list is only read by joining it, in the class that holds it."""
    for module, node in project.each(ast.Attribute):
        if node.attr == kept.rpartition(".")[2]:
            around = module.parents[node]
            reads = isinstance(around, ast.Call) and not module.holds(owner, node)
            if reads or not _is_whole(around, node):
                return False
    return True


def _is_whole(around: ast.AST, node: ast.Attribute) -> bool:
    """Return True if a list is used as a whole: created, appended to, counted or joined."""
    match around:
        case ast.Attribute(attr="append" | "clear"):
            return True
        case ast.Assign() | ast.Tuple():
            return isinstance(node.ctx, ast.Store)
        case ast.Call():
            return operation(around) in ("len", *_JOINING)
    return False
