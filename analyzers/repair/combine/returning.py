"""A fix for losses that helpers walk themselves: helpers return them, the caller walks the sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.evidence import Visit
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.combine.combining import is_schedule, rescheduled
from analyzers.repair.rewrite import top_level_in, unused_name
from analyzers.source.calls import calls_to, steps
from analyzers.source.detached import VALUES
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, names_read, statements_of, walk_scope, walked
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import position, walk


@dataclass(frozen=True)
class Helper:
    """A function that walks one loss, in a statement of its own, and takes no step.

    `returned` is its only return with a value, which is the loss or its number, if it has one.
    """

    module: Module
    function: ast.FunctionDef
    walk: ast.Expr
    loss: ast.expr
    returned: ast.Return | None


@dataclass(frozen=True)
class Site:
    """Where the caller comes to a walk: the name that its loss gets there, and the edits."""

    name: str
    edits: tuple[Edit, ...]
    number: bool


def return_losses(story: Story) -> Iterator[Proposal]:
    """Both helpers return their losses; the caller walks the sum behind the second call."""
    shared = story.shared
    if shared is None or not story.same_pass or shared.freed is None or shared.reached is None:
        return
    module, second = shared.module, shared.reached
    block = module.block_of(second)
    first = top_level_in(module, shared.freed, block)
    if first is None or first is second or first is not shared.freed:
        return
    visits = (story.reuse.freed, story.reuse.reached)
    sites = [_site(story, visit) for visit in visits]
    if None in sites or not any(story.called_for(visit) for visit in visits):
        return
    names = [site.name for site in sites if site is not None]
    editor = Editor(module)
    between = block[block.index(first) + 1 : block.index(second)]
    moved = [s for s in between if is_schedule(s)]
    behind = [f"({' + '.join(names)}).backward()"]
    behind += [f"{s.name} = {s.name}.item()" for s in sites if s is not None and s.number]
    edits = [edit for site in sites if site is not None for edit in site.edits]
    edits += rescheduled(editor, moved, first, second)
    edits.append(editor.insert_after(second, *behind))
    title = "Return the losses, one backward of their sum"
    told = "The backward call moves from the helpers to their caller."
    yield Proposal("return-losses", title, tuple(dict.fromkeys(edits)), told)


def _site(story: Story, visit: Visit) -> Site | None:
    """The caller's part of one walk; None where it is not plain."""
    shared = story.frame
    statement = shared.freed if visit is story.reuse.freed else shared.reached
    function = story.called_for(visit)
    editor = Editor(shared.module)
    if not function:
        call = statement.value if isinstance(statement, ast.Expr) else None
        root = walked(call) if isinstance(call, ast.Call) and not call.args else None
        if statement is None or not isinstance(root, ast.Name):
            return None
        return Site(root.id, (editor.delete(statement),), False)
    helper = _helper(story.project, function)
    if helper is None or statement is None or not _called_once(story.project, function, statement):
        return None
    inner = _returning(helper)
    if inner is None:
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            number = helper.returned is not None and _is_number(helper.returned)
            later = _read_later(shared.module, statement, name)
        case ast.Expr(value=ast.Call() as call):
            name = unused_name(shared.module, f"{function.strip('_')}_loss")
            inner = (*inner, editor.replace(statement, f"{name} = {editor.text_of(call)}"))
            number = later = False
        case _:
            return None
    if called_name(call) != function:
        return None
    return Site(name, inner, number and later)


def _helper(project: Project, name: str) -> Helper | None:
    """The function of this name, where it is one that a caller could walk for."""
    for module, function in project.functions_by_name(name):
        if not isinstance(function, ast.FunctionDef) or steps(function):
            continue
        walks = [
            node
            for node in walk_scope(function)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and called_name(node.value) == "backward"
            and not node.value.args
            and not node.value.keywords
        ]
        returns = [n for n in walk_scope(function) if isinstance(n, ast.Return) and n.value]
        loss = walked(walks[0].value) if len(walks) == 1 else None  # type: ignore[arg-type]
        if loss is None or len(returns) > 1 or walks[0] not in function.body:
            return None
        if returns and not _is_loss(returns[0], loss):
            return None
        return Helper(module, function, walks[0], loss, returns[0] if returns else None)
    return None


def _is_loss(returned: ast.Return, loss: ast.expr) -> bool:
    """Whether what is returned is the loss itself, or only its value."""
    value = returned.value
    while not isinstance(value, ast.Name) and value is not None:
        if spelled(value) == spelled(loss):
            return True
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in VALUES:
                value = inner
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                value = inner
            case _:
                return False
    return value is not None and spelled(value) == spelled(loss)


def _is_number(returned: ast.Return) -> bool:
    return isinstance(returned.value, ast.Call)


def _returning(helper: Helper) -> tuple[Edit, ...] | None:
    """The helper without its walk, its loss returned."""
    editor = Editor(helper.module)
    text = editor.text_of(helper.loss)
    if helper.returned is None:
        if helper.function.body[-1] is not helper.walk:
            return None
        return (editor.replace(helper.walk, f"return {text}"),)
    assert helper.returned.value is not None
    return editor.delete(helper.walk), editor.replace(helper.returned.value, text)


def _called_once(project: Project, name: str, statement: ast.stmt) -> bool:
    """Whether no other statement of the project calls the function."""
    inside = set(walk(statement))
    return all(call in inside for _, call in calls_to(project, name))


def _read_later(module: Module, statement: ast.stmt, name: str) -> bool:
    scope = module.scope_of(statement)
    later: Sequence[ast.AST] = [
        node for node in statements_of(scope) if position(node) > position(statement)
    ]
    return any(name in names_read(node) for node in later if not isinstance(node, FUNCTIONS))
