"""Start each iteration without the state of the previous one, by the script's own reset."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.blocks import joined, unwrapped
from analyzers.repair.cut.expected import visible
from analyzers.repair.remake.chains import preceding
from analyzers.repair.rewrite import head_of
from analyzers.source.callees import is_call, operation, own_name
from analyzers.source.detached import is_made_without
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, bound_within, names_read, value_of
from analyzers.source.ops import FACTORIES
from analyzers.source.project import Loop, Module, Project, spelled
from analyzers.source.random_order import is_shuffled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of

LAST = SECOND_CHOICE + 1  # the rank of a reset that nothing but the loop suggests
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
    """Yield a proposal that moves the script's own reset from before a loop, or from under the
    condition that the iteration is the first, to the loop's head. It comes before any cut if the
    iterations take samples in a random order, or if another loop of the script resets in each
    iteration.
    """
    shared, loop = story.shared, story.loop
    if shared is None or not isinstance(loop, ast.For):
        return
    editor, project = Editor(shared.module), story.project
    for statement, edits in _resets_once(story, shared, loop):
        everywhere = is_shuffled(loop, project) or _is_reset_elsewhere(shared, statement, project)
        title = f"Call `{editor.text_of(statement)}` for each batch"
        rank = -SECOND_CHOICE if everywhere else LAST
        yield Proposal("reset-at-head", title, edits, _FRESH_STATE, rank)
        return


def _resets_once(
    story: ReuseFeatures, shared: Shared, loop: ast.For
) -> Iterator[tuple[ast.stmt, tuple[Edit, ...]]]:
    """Yield statements that give the carrier its first value, with the edits by which they do so in
    each iteration."""
    editor, fixed = Editor(shared.module), bound_within(loop)
    for statement in reversed(list(preceding(shared.module, shared.scope, loop))):
        match statement:
            case ast.Expr(value=ast.Call() as call) if _resets(story, call):
                if not fixed & names_read(statement):
                    put = editor.insert_before(head_of(loop), editor.text_of(statement))
                    yield statement, joined([editor.delete(statement), put])
    for statement in _resets_by_owner(story, shared, loop):
        yield statement, (editor.insert_before(head_of(loop), editor.text_of(statement)),)
    for block in loop.body:
        match block:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id=count), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
                ),
                body=[statement],
                orelse=[],
            ) if count in target_names(loop.target) and story.name in bindings(statement):
                yield statement, unwrapped(editor, block) or ()


def _resets_by_owner(story: ReuseFeatures, shared: Shared, loop: Loop) -> Iterator[ast.stmt]:
    """Yield statements by which the carrier's owner sets it to its first value elsewhere: the same
    method, without arguments, of what goes by the same name."""
    owner = story.name.rpartition(".")[0]
    for module, statement in story.project.each(ast.Expr) if story.attribute else ():
        match statement.value:
            case ast.Call(func=ast.Attribute(value=called), args=[], keywords=[]) as call if (
                spelled(called) == owner and module is shared.module and owner != "self"
            ):
                if not module.holds(loop, statement) and _resets(story, call):
                    yield statement


def made_for_each(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that moves into the loop the statement that makes the carrier's owner, if
    each iteration first loads all that it holds: so far it holds, besides, what it last computed.
    """
    shared, loop, owner = story.shared, story.loop, story.name.partition(".")[0]
    if shared is None or loop is None or owner in ("", "self"):
        return
    made = [s for s in preceding(shared.module, shared.scope, loop) if bindings(s) == [owner]]
    first = next((s for s in loop.body if owner in names_read(s)), None)
    match first:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=loaded))) as statement if (
            made and spelled(loaded) == owner and _name_called(statement) == "load_state_dict"
        ):
            editor = Editor(shared.module)
            put = editor.insert_before(statement, *editor.lines_of(made[-1]))
            title = f"Make `{owner}` in each iteration"
            edits = joined([editor.delete(made[-1]), put])
            yield Proposal("made-for-each", title, edits, _FRESH_STATE, -SECOND_CHOICE)


def _resets(story: ReuseFeatures, call: ast.Call, depth: int = 2) -> bool:
    """Return True if a function called by a plain name, or one that it calls, only binds the
    carrier to its first value.
    """
    for _, function in story.project.functions_called(call):
        if not isinstance(function, ast.FunctionDef):
            continue
        if story.attribute and _begins(function, f"self.{story.attribute}"):
            return True
        inner = [n for n in nodes_of(function, ast.Call) if not n.args]
        if depth > 1 and any(_resets(story, one, depth - 1) for one in inner):
            return True
    return False


def _is_reset_elsewhere(shared: Shared, reset: ast.stmt, project: Project) -> bool:
    """Return True if a loop of another function makes the same call in each iteration, before
    others.
    """
    called = _name_called(reset)
    return any(
        called in map(_name_called, other.body[:-1])
        for module, other in project.each(ast.For)
        if module.scope_of(other) is not shared.scope and bool(called)
    )


def _name_called(statement: ast.stmt) -> str:
    """Return the name of what a statement calls, if its value is one call."""
    value = statement.value if isinstance(statement, ast.Expr) else value_of(statement)
    return own_name(value) if isinstance(value, ast.Call) else ""


def _begins(method: ast.FunctionDef, name: str) -> bool:
    """Return True if a method only sets its object's attributes, this one included, to constants,
    new tensors and what it makes of its arguments, without a look at what they were.
    """
    body = [s for s in method.body if not isinstance(s, ast.Expr)]
    made = {target for statement in body for target in bindings(statement)}
    plain = all(
        isinstance(s, ast.Assign) and (_is_new(s.value) or not made & names_read(s.value))
        for s in body
    )
    return plain and name in made and method.name not in ("__init__", "forward")


def _is_new(value: ast.expr) -> bool:
    """Return True for a constant, and for a tensor that is made of none, wherever it is put."""
    while isinstance(value, ast.Call) and operation(value) in _PLACING:
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    made = isinstance(value, ast.Call) and operation(value) in FACTORIES
    return isinstance(value, ast.Constant) or (made and is_made_without(value))
