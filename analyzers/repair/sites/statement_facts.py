"""Answer what a statement calls backward on, what it stores under a binding's name, and where it
reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analyzers.repair.cut.rendering import has_graph, part_at
from analyzers.repair.rewrite import unused_name
from analyzers.source.backward import backward_root
from analyzers.source.callees import is_call, own_name
from analyzers.source.calls import calls_of
from analyzers.source.detached import WITHOUT_GRAPH
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import rebinds
from analyzers.source.project import FUNCTIONS, Module, spelled
from analyzers.source.reads import reads_after
from analyzers.source.receivers import takes_loss
from analyzers.source.targets import assigned_pairs
from provenance import Binding, ValueShape

_KEEPING = {"retain_graph", "create_graph"}
_HANDED = (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict)
_TAKING_OVER = ("list.extend", "dict.update")
_STORING = (
    *("list.append", "list.insert", "collections.deque.appendleft", "set.add"),
    *("queue.Queue.put", "queue.Queue.push", *_TAKING_OVER),
)


def under_own_name(
    module: Module, store: ast.Assign, without_graph: Callable[[str], str | None]
) -> list[Edit]:
    """Return edits that bind the value to a local name, which the function reads from there on, and
    store it as `without_graph` writes that name; empty if nothing reads it later, or if the
    store may be left out before a read. A value that has a local name keeps it.
    """
    editor, target = Editor(module), spelled(store.targets[0])
    later = reads_after(module.scope_of(store), store, target)
    block = module.block_of(store)
    after = block[block.index(store) + 1 :]
    held = store.value.id if isinstance(store.value, ast.Name) else ""
    named = bool(held) and not any(rebinds(one, held) for one in after)
    own = held if named else unused_name(module, target.rpartition(".")[2])
    value = without_graph(own)
    always = all(any(module.holds(s, node) for s in after) for node in later)
    if not later or not always or value in (None, own):
        return []
    if named:
        kept = editor.replace(store.value, str(value))
        return [*(editor.replace(node, own) for node in later), kept]
    kept = editor.insert_after(store, f"{target} = {value}")
    return [*(editor.replace(node, own) for node in (store.targets[0], *later)), kept]


def sole_backward(statement: ast.stmt, through: str = "") -> ast.Call | None:
    """Return the call of a statement that only calls backward on a loss, with a gradient of one:
    directly, or by passing the loss to a function (`through`; Lightning's `manual_backward`).
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or {k.arg for k in call.keywords} - _KEEPING:
        return None
    handed_to = through and own_name(call) == through
    if handed_to or is_call(call, "lightning.LightningModule.manual_backward"):
        return call if len(call.args) == 1 and not call.keywords else None
    if takes_loss(call):
        return call
    plain = isinstance(call.func, ast.Attribute) != bool(call.args)  # no gradient is given
    is_plain = plain and is_call(call, "torch.Tensor.backward") and backward_root(call)
    return call if is_plain else None


def loss_of(call: ast.Call) -> ast.expr:
    """Return the loss of such a call."""
    loss = call.args[0] if call.args else backward_root(call)
    assert loss is not None
    return loss


def stores(statement: ast.stmt, binding: Binding) -> Iterator[tuple[ast.expr, ValueShape, bool]]:
    """Yield the values that a statement stores under the binding's name, with their shapes; if a
    value is unpacked, the target instead, and False.
    """
    for target, value in _assignments(statement):
        if (kind := _stored_kind(target, value, binding)) is not None:
            yield value or target, kind, value is not None
    if isinstance(statement, ast.AugAssign) and spelled(statement.target) == binding.name:
        if binding.kind.kind == "tensor":
            yield statement.value, binding.kind, True
    for call in calls_of(statement, *_STORING):
        if spelled(call.func).rpartition(".")[0] == binding.name and call.args:
            held = [part for _, part in binding.kind.items() if has_graph(part)]
            whole = [binding.kind] if is_call(call, *_TAKING_OVER) else held[-1:]
            yield from ((call.args[-1], kind, True) for kind in whole)


def _stored_kind(target: ast.expr, value: ast.expr | None, binding: Binding) -> ValueShape | None:
    """Return the shape of what a target receives, if it is the binding's name, an attribute, or an
    entry of it.
    """
    name = spelled(target)
    if name == binding.name and ("." in name or value is None or isinstance(value, _HANDED)):
        return binding.kind
    if isinstance(target, ast.Subscript) and spelled(target.value) == binding.name:
        if _is_other_entry(target.slice, binding):
            return None
        path = binding.paths[0].removeprefix(binding.name)
        return part_at(binding.kind, path[: path.find("]") + 1])
    if isinstance(target, ast.Attribute) and spelled(target.value) == binding.name:
        return part_at(binding.kind, f".{target.attr}")
    return None


def _is_other_entry(index: ast.expr, binding: Binding) -> bool:
    """Return True if an entry's key is a literal, and what was carried is under other such keys."""
    key = index.value if isinstance(index, ast.Constant) else None
    paths = [path.removeprefix(binding.name) for path in binding.paths]
    carried = {path[: path.find("]") + 1] for path in paths}
    spelled_out = all(step.startswith("['") for step in carried)
    return isinstance(key, str) and spelled_out and f"[{key!r}]" not in carried


def _assignments(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield each target with its value; without one if a value is unpacked."""
    for target, value in assigned_pairs(statement):
        if isinstance(target, ast.Tuple | ast.List):
            yield from ((element, None) for element in target.elts)
        else:
            yield target, value


def spellings(binding: Binding) -> Iterator[tuple[str, ValueShape]]:
    """Yield a binding's name, and the paths below it that are expressions,
    with what each denotes.
    """
    yield binding.name, binding.kind
    for path in binding.paths:
        kind = part_at(binding.kind, path.removeprefix(binding.name))
        if kind is not None and "…" not in path:
            yield path, kind


def read_in(statement: ast.stmt, known: dict[str, ValueShape]) -> list[tuple[ast.expr, ValueShape]]:
    """Return the longest expressions of a statement that read something
    known, with their shapes.
    """
    found: list[tuple[ast.expr, ValueShape]] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        context = getattr(node, "ctx", None)
        if isinstance(context, ast.Store | ast.Del) or _no_history(node, known):
            continue
        kind = _kind_of(node, known) if context is not None else None
        if kind is not None and isinstance(node, ast.expr):
            found.append((node, kind))
        elif not isinstance(node, FUNCTIONS[:2]):
            todo += [child for child in ast.iter_child_nodes(node) if not _is_body(node, child)]
    return found


def _no_history(node: ast.AST, known: dict[str, ValueShape]) -> bool:
    """Return True if the expression takes no graph from what it names: `x is None`, `x.shape`,
    `x.data`.
    """
    if isinstance(node, ast.Attribute) and _kind_of(node, known) is None:
        return node.attr in WITHOUT_GRAPH
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot)


def _kind_of(node: ast.AST, known: dict[str, ValueShape]) -> ValueShape | None:
    """Return the shape of what an expression reads, if it spells something
    known or a part of it.
    """
    if not isinstance(node, ast.expr) or spelled(node) in known:
        return known.get(spelled(node))
    match node:
        case ast.Subscript(value=owner):
            whole = _kind_of(owner, known)
            parts = whole.items() if whole is not None else ()
            return next((part for _, part in parts if has_graph(part)), None)
        case ast.Attribute(value=owner, attr=attr):
            whole = _kind_of(owner, known)
            return part_at(whole, f".{attr}") if whole is not None else None
    return None


def _is_body(node: ast.AST, child: ast.AST) -> bool:
    """Return True if the child is a statement within another."""
    return isinstance(node, ast.stmt) and isinstance(child, ast.stmt | ast.excepthandler)
