"""Gradients asked of parts of a tensor: the forward was computed from the whole, and a part that is
taken of it (`x[:, :1]`, `q, p = x.chunk(2, -1)`) is a new tensor, which leads nowhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, rewritten, text_with
from analyzers.repair.rewrite import unused_name
from analyzers.source.calls import argument_for, calls_of
from analyzers.source.edits import Edit
from analyzers.source.flow import definitions, names_bound, part_for
from analyzers.source.project import spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, position
from analyzers.source.unpacking import unpacking

_SAME = frozenset({"clone", "contiguous", "to", "float", "double", "cuda", "cpu"})
_REARRANGING = frozenset(  # whose gradient is that of the tensor, rearranged in the same way
    {"view", "reshape", "flatten", "t", "transpose", "permute", "squeeze", "unsqueeze"}
)


@dataclass(frozen=True)
class TensorPart:
    """What a gradient is asked of, and the expression that takes it from the whole: one of several
    (`at`) where that gives more than one. A copy (`x.clone()`, `-x`) is all of it."""

    asked: str
    whole: ast.expr
    taken: ast.expr
    at: int | None = None

    @property
    def copies(self) -> bool:
        """Return True if it is all of the tensor, in another one."""
        return self.at is None and not isinstance(self.taken, ast.Subscript)

    @property
    def is_same(self) -> bool:
        """Return True if the gradient of the whole is that of the part as it is."""
        match self.taken:
            case ast.Call(func=ast.Attribute(attr=method)):
                return self.at is None and method in _SAME
        return False

    def of(self, where: SourceLocation, text: str) -> str:
        """Return the source of the same part of another expression."""
        taken = text_with(where.editor, self.taken, [where.editor.replace(self.whole, text)])
        return taken if self.at is None else f"{taken}[{self.at}]"


def parts_asked(where: SourceLocation | None) -> list[TensorPart]:
    """Return the parts whose gradients a call asks for; empty unless all are of one tensor."""
    call = where.call("torch.autograd.grad") if where is not None else None
    return _parts(where, call) if where is not None and call is not None else []


def asked_of_whole(where: SourceLocation) -> Iterator[Proposal]:
    """Propose to ask for the whole tensor's gradient and to take the parts of it, in all such
    calls."""
    parts = parts_asked(where)
    edits: list[Edit] = []
    for call in calls_of(where.scope, "torch.autograd.grad") if parts else ():
        asked = _parts(where, call)
        if asked and spelled(asked[0].whole) == spelled(parts[0].whole):
            edits += _of_whole(where, call, asked)
    if edits:
        parts_text = "this part of it" if len(parts) == 1 else "these parts of it"
        of_it = "" if parts[0].copies else f", and take {parts_text}"
        itself = " itself" if parts[0].copies else ""
        title = f"Ask for the gradient of `{spelled(parts[0].whole)}`{itself}{of_it}"
        yield Proposal("use-wanted", title, joined(edits), "")


def joined_again(where: SourceLocation, outputs: ast.stmt) -> Iterator[Proposal]:
    """Propose `net(torch.cat([x, t], dim=1))`: a forward that reads the named parts."""
    parts = parts_asked(where)
    whole = spelled(parts[0].whole) if parts else ""
    found: dict[str, tuple[str, int] | None] = {}
    for name in names_bound(where.scope) if parts else ():
        made = definitions(where.scope, name)
        part = _named(where, name) if position(made[0]) < position(outputs) else None
        if part is not None and spelled(part.whole) == whole:
            found[name] = _joining(part)
    ways = set(found.values())
    way = ways.pop() if len(found) > 1 and len(ways) == 1 else None
    if way is None:
        return
    how, dim = way
    again = f"{alias(where.module, 'torch')}.{how}([{', '.join(found)}], dim={dim})"
    given = [n for n in nodes_of(outputs, ast.expr) if spelled(n) == whole]
    edits = tuple(where.editor.replace(node, again) for node in given)
    if edits:
        names = " and ".join(f"`{name}`" for name in found)
        yield Proposal("use-wanted", f"Compute from {names}, not from `{whole}`", edits, "")


def _parts(where: SourceLocation, call: ast.Call) -> list[TensorPart]:
    given = argument_for(call, ("outputs", "inputs"), "inputs")
    asked = given.elts if isinstance(given, ast.Tuple | ast.List) else [given] if given else []
    parts = [part for item in asked if (part := _part(where, item)) is not None]
    wholes = {spelled(part.whole) for part in parts}
    return parts if len(parts) == len(asked) and len(wholes) == 1 else []


def _part(where: SourceLocation, asked: ast.expr) -> TensorPart | None:
    """Return a part that the call takes itself, or a copy that it makes; or a part that was bound
    to a name before."""
    match asked:
        case ast.Subscript(value=whole) | ast.UnaryOp(op=ast.USub(), operand=whole):
            return TensorPart(spelled(asked), whole, asked)
        case ast.Call(func=ast.Attribute(value=whole, attr=method)) if (
            method in _SAME | _REARRANGING
        ):
            return TensorPart(spelled(asked), whole, asked)
    return _named(where, asked.id) if isinstance(asked, ast.Name) else None


def _named(where: SourceLocation, name: str) -> TensorPart | None:
    """Return the part that a name is bound to if it has one binding in this scope."""
    match definitions(where.scope, name):
        case [ast.Assign(targets=[target], value=value) as made]:
            part, names = part_for(made, name.__eq__), [*target_names(target)]
            if isinstance(part, ast.Subscript) and (part is not value or names == [name]):
                return TensorPart(name, part.value, part)
            if name in names and (parted := unpacking(value)) is not None:
                return TensorPart(name, parted.whole, value, names.index(name))
    return None


def _joining(part: TensorPart) -> tuple[str, int] | None:
    """Return the function that joins such slices or items, and along which dimension; else None."""
    if not isinstance(part.taken, ast.Subscript):
        return None
    at = part.taken.slice
    items = at.elts if isinstance(at, ast.Tuple) else [at]
    taken = [dim for dim, item in enumerate(items) if spelled(item) not in (":", "...")]
    if len(taken) != 1:
        return None
    dim = taken[0] - (len(items) if spelled(items[0]) == "..." else 0)
    return "cat" if isinstance(items[taken[0]], ast.Slice) else "stack", dim


def _of_whole(where: SourceLocation, call: ast.Call, parts: list[TensorPart]) -> list[Edit]:
    """Return edits that ask for the whole and take parts of the result where it is used."""
    given = argument_for(call, ("outputs", "inputs"), "inputs")
    assert given is not None
    editor, whole = where.editor, where.editor.text_of(parts[0].whole)
    if len(parts) == 1 and parts[0].is_same and parts[0].asked == spelled(given):
        return [editor.replace(given, whole)]
    gradient = text_with(editor, call, [editor.replace(given, whole)]) + "[0]"
    used = where.module.parents.get(call)
    if len(parts) == 1 and isinstance(used, ast.Subscript):
        return [editor.replace(used, parts[0].of(where, gradient))]
    if not isinstance(used, ast.Assign) or not isinstance(used.targets[0], ast.Tuple):
        return []
    targets, taken = used.targets[0].elts, parts[0].taken
    if all(p.taken is taken and p.at == i for i, p in enumerate(parts)):
        if len(parts) == len(targets):
            edit = editor.replace(parts[0].whole, gradient)
            return [editor.replace(call, text_with(editor, taken, [edit]))]
    name = unused_name(where.module, "gradient")
    results = ", ".join(part.of(where, name) for part in parts) + "," * (len(parts) == 1)
    lines = [f"{name} = {gradient}", f"{editor.text_of(used.targets[0])} = {results}"]
    return [rewritten(editor, [used], lines)]
