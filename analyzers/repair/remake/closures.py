"""Fixes for an optimizer that calls its closure many times: forward and loss belong inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import leading_to, spot
from analyzers.repair.blocks import text_with
from analyzers.repair.remake.chains import chains_of
from analyzers.repair.rewrite import copy_into, move_into
from analyzers.source.calls import calls_named, calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    bound_within,
    called_name,
    definitions,
    mentions,
    names_bound,
    names_read,
    statements_of,
    value_of,
    walk_scope,
    walked,
)
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.trees import walk


def forward_into_closure(story: Story) -> Iterator[Proposal]:
    """Move the statements that make the loss into the closure."""
    module = story.project.module(story.reuse.reached.at.file)
    call = story.root_call
    if module is None or call is None:
        return
    closure = module.scope_of(call)
    statement = module.statement_at(call.lineno, call.col_offset)
    if not isinstance(closure, ast.FunctionDef | ast.AsyncFunctionDef) or statement is None:
        return
    yield from _call_maker(story, module, closure)
    yield from _into_method(story, module, closure)
    yield from _lambda_for_partial(story.project, closure)
    root = walked(call)
    carriers = {c.name for c in story.carriers}
    owners = {name.rpartition(".")[0] for name in carriers} - {""}
    names = (names_read(root) if root is not None else set()) | carriers | owners
    scope = module.scope_of(closure)
    needed = _free_names(closure) & _graph_side(scope, names)
    seen = story.left_behind(scope)
    before = _step_behind(story, module, closure) or closure
    for rank, made_there in enumerate(chains_of(module, scope, before, needed or names, seen)):
        chain = _with_clearing(module, scope, closure, made_there)
        made = {name for s in chain for name in bound_within(s)}
        old = _reading_old(story, closure)
        first = next((s for s in closure.body if names_read(s) & made or s in old), statement)
        editor = Editor(module)
        kept = _returned_by_step(editor, scope, closure, chain)
        if kept is not None:
            edits = (*move_into(editor, chain, first), *kept)
        else:
            edits = copy_into(editor, chain, first)
        title = "Forward and loss inside the closure"
        yield Proposal("forward-into-closure", title, edits, "", rank)


def _step_behind(story: Story, module: Module, closure: ast.stmt) -> ast.stmt | None:
    """The statement that gives the closure to its optimizer, where it stands further down in the
    function around the closure: what is in front of it is outside of the closure, too."""
    step = _calling(story, module)
    if step is None or step.lineno < closure.lineno:
        return None
    return step if module.scope_of(step) is module.scope_of(closure) else None


def _calling(story: Story, module: Module) -> ast.stmt | None:
    """The statement that was running around the closure when it walked: its optimizer's step."""
    calling = story.reuse.reached.stack[-2:-1]
    return module.statement_at(calling[0].line, calling[0].column) if calling else None


def forward_outside(story: Story) -> Place | None:
    """The statement around the closure that made what it walks again; or the call that was seen
    to leave old values in its objects."""
    where = spot(story.project, story.reuse.reached.at)
    if where is None:
        return None
    made = story.join.old.at if story.join is not None else None
    around = (_calling(story, where.module), where.scope)
    blocks = [where.module.block_of(one) for one in around if isinstance(one, ast.stmt)]
    making = [leading_to(story.project, block, made) for block in blocks if made is not None]
    read = names_read(where.scope)
    left = [one for one in making if one is not None and read & {*bindings(one)}]
    left = left or story.left_behind(where.module.scope_of(where.scope))
    return Place(where.module.path, left[0].lineno) if left else None


def _reading_old(story: Story, closure: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements of the closure that were seen to compute from old values, be it in a call."""
    places = [join.new.at for join in story.reuse.joins if join.new is not None]
    found = [leading_to(story.project, closure.body, at) for at in places if at is not None]
    return [statement for statement in found if statement is not None]


def _call_maker(
    story: Story, module: Module, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Proposal]:
    """Where a method makes the carrier, the closure calls that method itself."""
    for other, maker, _ in story.binders:
        if other is not module or not story.attribute or not isinstance(maker, ast.FunctionDef):
            continue
        if maker.name[:2] == "__" or maker is closure or len(maker.args.args) != 1:
            continue
        owner = "self" if module.class_of(closure) else story.name.rpartition(".")[0]
        own = f"{owner}.{story.attribute}"
        first = next((s for s in closure.body if mentions(s, own)), closure.body[0])
        edit = Editor(module).insert_before(first, f"{owner}.{maker.name}()")
        title = f"Make `{own}` inside the closure"
        yield Proposal("forward-into-closure", title, (edit,), "", 0)


def _into_method(
    story: Story, module: Module, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Proposal]:
    """Where the closure is a method, the statements in front of the step go into it, if they need
    nothing but `self`."""
    step = _calling(story, module)
    if module.class_of(closure) is None or step is None or not story.attribute:
        return
    scope = module.scope_of(step)
    for rank, made_there in enumerate(chains_of(module, scope, step, {f"self.{story.attribute}"})):
        chain = _with_clearing(module, scope, closure, made_there)
        made = {name for statement in chain for name in bound_within(statement)}
        local = {name for s in chain for name in names_read(s)} - made
        if local & names_bound(scope):
            continue
        first = next((s for s in closure.body if names_read(s) & made), closure.body[0])
        edits = move_into(Editor(module), chain, first)
        title = f"Forward and loss inside `{closure.name}`"
        yield Proposal("forward-into-closure", title, edits, "", rank)


def _with_clearing(
    module: Module, scope: Scope, closure: ast.AST, chain: Sequence[ast.stmt]
) -> list[ast.stmt]:
    """The chain with what clears gradients outside of a closure that does not: each of its calls
    would add to those of the last. Beside the chain, or of the optimizer that gets the closure."""
    if calls_named(closure, "zero_grad"):
        return [*chain]
    given = {
        spelled(call.func).rpartition(".")[0]
        for call in calls_named(scope, "step")
        if getattr(closure, "name", "") in (spelled(a).rpartition(".")[2] for a in call.args)
    }
    beside = module.block_of(chain[-1])
    clears = [
        statement
        for statement in statements_of(scope)
        if isinstance(statement, ast.Expr) and statement is not closure
        for call in calls_named(statement, "zero_grad")
        if spelled(call.func).rpartition(".")[0] in given or statement in beside
    ]
    return sorted({*chain, *clears}, key=lambda s: s.lineno)


def _lambda_for_partial(
    project: Project, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Proposal]:
    """`partial(closure, loss)` becomes `lambda: closure(forward(...))`: calls make the loss."""
    for module, call in calls_to(project, "partial"):
        if not call.args or spelled(call.args[0]) != closure.name:
            continue
        statement = module.statement_at(call.lineno, call.col_offset)
        editor = Editor(module)
        for argument in (*call.args[1:], *(keyword.value for keyword in call.keywords)):
            made = _only_definition(module, statement, argument)
            if made is None:
                continue
            put = editor.replace(argument, editor.text_of(made.value))
            given = [text_with(editor, a, [put] * (a is argument)) for a in call.args[1:]]
            given += [text_with(editor, k, [put] * (k.value is argument)) for k in call.keywords]
            text = f"lambda: {closure.name}({', '.join(given)})"
            edits = (editor.delete(made), editor.replace(call, text))
            title = f"Make `{spelled(argument)}` in each call of the closure"
            yield Proposal("forward-into-closure", title, edits)


def _only_definition(
    module: Module, statement: ast.stmt | None, argument: ast.expr
) -> ast.Assign | None:
    """The one statement that makes a name, where only this argument reads it."""
    if not isinstance(argument, ast.Name) or statement is None:
        return None
    scope = module.scope_of(statement)
    made = [s for s in definitions(scope, argument.id) if isinstance(s, ast.Assign)]
    once = names_loaded(walk(scope), argument.id) == [argument]
    alone = len(made) == 1 and len(made[0].targets) == 1 and once
    return made[0] if alone and isinstance(made[0].value, ast.Call | ast.BinOp) else None


def _returned_by_step(
    editor: Editor, scope: Scope, closure: ast.AST, chain: Sequence[ast.stmt]
) -> tuple[Edit, ...] | None:
    """Edits that keep the moved names readable behind `optimizer.step(closure)`: its return value
    is the loss. None where other moved names are read outside of the closure."""
    made = {name for statement in chain for name in bound_within(statement)}
    inside = set(walk(closure)) | {n for s in chain for n in walk(s)}
    read = {n.id for n in names_loaded(walk_scope(scope), *made) if n not in inside}
    if not read:
        return ()
    returned = {
        spelled(node.value)
        for node in walk(closure)
        if isinstance(node, ast.Return) and node.value is not None
    }
    if read != returned:
        return None
    for node in walk_scope(scope):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            given = [spelled(argument) for argument in node.value.args]
            if called_name(node.value) == "step" and getattr(closure, "name", "") in given:
                start, _ = editor.span(node)
                return (Edit(editor.module.path, start, start, f"{read.pop()} = "),)
    return None


def _free_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {n for s in function.body for n in names_read(s)} - names_bound(function)


def _graph_side(scope: Scope, names: set[str]) -> set[str]:
    """The names, and those that they are computed from or into, in the scope."""
    return names | {
        name
        for node in statements_of(scope)
        if (value := value_of(node)) is not None
        for name in bindings(node)
        if names_read(value) & names or name in names
    }
