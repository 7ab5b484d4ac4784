"""Start each iteration without the state of the previous one, by the script's own reset."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.repair.blocks import joined
from analyzers.repair.cut.expected import visible
from analyzers.repair.remake.chains import preceding
from analyzers.repair.rewrite import head_of
from analyzers.source.callees import is_call, operation, own_name
from analyzers.source.detached import is_made_without
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, names_read
from analyzers.source.ops import FACTORIES
from analyzers.source.project import Loop, Module, Project, spelled
from analyzers.source.random_order import is_shuffled
from analyzers.source.trees import nodes_of

_PLACING = ("cpu", "cuda", "requires_grad_", "to", "type")
_FRESH_STATE = "Each iteration starts without the state of the one before."


def reset_of_all_layers(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that replace `for layer in net.children()`, which resets only the first
    layers, by `net.modules()`, which includes nested ones. They come before any cut: the script
    shows that each iteration should start fresh.
    """
    for module, loop in _loops_resetting(story):
        match loop:
            case ast.For(iter=ast.Call(func=ast.Attribute(value=net) as function) as call) if (
                is_call(call, "torch.nn.Module.children")
            ):
                editor, owner = Editor(module), spelled(net)
                edit = editor.replace(function, f"{owner}.modules")
                where = f"in all layers of `{owner}`, not in the first only"
                title = f"Reset `{story.attribute}` {where}"
                yield Proposal("reset-all-layers", title, (edit,), _FRESH_STATE, -SECOND_CHOICE)


def _loops_resetting(story: ReuseFeatures) -> Iterator[tuple[Module, Loop]]:
    """Yield the innermost loops around what rebinds the carrier in the iterations: a statement, or
    the call of a method that does.
    """
    binders = [b for b in story.binders if story.attribute and story.binds_inside(*b)]
    for module, _, statement in binders:
        yield from ((module, loop) for loop in module.loops_around(statement)[:1])
    methods = {getattr(scope, "name", "") for _, scope, _ in binders} - {"forward", "__init__"}
    for module, node in story.project.each(ast.Expr):
        if isinstance(node.value, ast.Call) and own_name(node.value) in methods:
            yield from ((module, loop) for loop in module.loops_around(node)[:1])


def reset_by_call(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that repeats, at the head of the loop, the call before it that resets the
    carrier: with constant arguments, of a function in which the carrier is local while the loop
    does not name it.
    """
    shared, loop = story.shared, story.loop
    if shared is None or loop is None or story.attribute or story.name in visible(story):
        return
    own = {getattr(scope, "name", "") for _, scope, _ in story.binders}
    calls = (
        Editor(shared.module).text_of(s)
        for s in preceding(shared.module, shared.scope, loop)
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
        if spelled(s.value.func) in own and not names_read(s) - own
    )
    for line in islice(calls, 1):
        edit = Editor(story.frame.module).insert_before(head_of(loop), line)
        title = f"Reset `{story.name}` at the head of the loop"
        yield Proposal("reset-at-head", title, (edit,), _FRESH_STATE, 3)


def reset_for_samples(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that moves the script's own reset from before a loop to its head, if the
    iterations take samples in a random order, or if another loop of the script resets in each
    iteration. It comes before any cut.
    """
    shared, loop = story.shared, story.loop
    if shared is None or not isinstance(loop, ast.For):
        return
    editor, shuffled = Editor(shared.module), is_shuffled(loop, story.project)
    for statement in reversed(list(preceding(shared.module, shared.scope, loop))):
        match statement:
            case ast.Expr(value=ast.Call(args=[], keywords=[]) as call) if _resets(story, call):
                if not (shuffled or _is_reset_elsewhere(shared.scope, call, story.project)):
                    return
                text = editor.text_of(statement)
                edits = [editor.delete(statement), editor.insert_before(head_of(loop), text)]
                title = f"Call `{text}` for each batch"
                yield Proposal("reset-at-head", title, joined(edits), _FRESH_STATE, -SECOND_CHOICE)
                return


def _resets(story: ReuseFeatures, call: ast.Call, depth: int = 2) -> bool:
    """Return True if a function called by a plain name, or one that it calls, only binds the
    carrier to its first value.
    """
    for _, function in story.project.functions_called(call):
        if not isinstance(function, ast.FunctionDef):
            continue
        if story.attribute and _only_begins(function, f"self.{story.attribute}"):
            return True
        inner = [n for n in nodes_of(function, ast.Call) if not n.args]
        if depth > 1 and any(_resets(story, one, depth - 1) for one in inner):
            return True
    return False


def _is_reset_elsewhere(scope: ast.AST, call: ast.Call, project: Project) -> bool:
    """Return True if a loop of another function makes the same call in each iteration, before
    others.
    """
    for module, loop in project.each(ast.For):
        resets = [s for s in loop.body[:-1] if isinstance(s, ast.Expr)]
        named = {own_name(s.value) for s in resets if isinstance(s.value, ast.Call)}
        if own_name(call) in named and module.scope_of(loop) is not scope:
            return True
    return False


def _only_begins(method: ast.FunctionDef, name: str) -> bool:
    """Return True if a method only sets its object's attributes to constants and to new tensors,
    this one included.
    """
    body = [s for s in method.body if not isinstance(s, ast.Expr)]
    plain = all(isinstance(s, ast.Assign) and _is_new(s.value) for s in body)
    return plain and any(name in bindings(s) for s in body) and method.name != "__init__"


def _is_new(value: ast.expr) -> bool:
    """Return True for a constant, and for a tensor that is made of none, wherever it is put."""
    while isinstance(value, ast.Call) and operation(value) in _PLACING:
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    made = isinstance(value, ast.Call) and operation(value) in FACTORIES
    return isinstance(value, ast.Constant) or (made and is_made_without(value))
