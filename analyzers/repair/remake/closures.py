"""Fix optimizers that call their closure several times: forward and loss belong inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import leading_to, resolve_location, returns_of
from analyzers.repair.remake.chains import chains_of, other_reads
from analyzers.repair.rewrite import copy_into, move_into
from analyzers.source.backward import backward_root
from analyzers.source.calls import ZERO_GRAD, calls_of, each_call, receivers_of, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    definitions,
    mentions,
    names_bound,
    names_read,
    statements_of,
)
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.statement_ranges import bound_by, read_by
from analyzers.source.trees import walk
from provenance import CodeLine


def forward_into_closure(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that move the statements that compute the loss into the closure."""
    module = story.project.module(story.reuse.reached.at.file)
    call = story.root_call
    if module is None or call is None:
        return
    closure = module.scope_of(call)
    statement = module.statement_at(call.lineno, call.col_offset)
    if not isinstance(closure, ast.FunctionDef | ast.AsyncFunctionDef) or statement is None:
        return
    yield from _call_maker(story, module, closure)
    step = _calling(story, module)
    if module.class_of(closure) is not None and step is not None and story.attribute:
        scope = module.scope_of(step)
        chains = chains_of(module, scope, step, {f"self.{story.attribute}"})
        yield from _put_in(story, module, closure, scope, chains, closure.body[0])
    yield from _lambda_for_partial(story.project, closure)
    root = backward_root(call)
    carriers = {c.name for c in story.carriers}
    holding = {name.rpartition(".")[0] for name in carriers} - {""}
    names = (names_read(root) if root is not None else set()) | carriers | holding
    scope = module.scope_of(closure)
    needed = (read_by(closure.body) - names_bound(closure)) & names or names
    # before the step is outside of the closure, too
    later = step is not None and step.lineno >= closure.lineno and module.scope_of(step) is scope
    before = step if step is not None and later else closure
    chains = chains_of(module, scope, before, needed, story.storing_calls(scope))
    yield from _put_in(story, module, closure, scope, chains, statement)


def _put_in(
    story: ReuseFeatures,
    module: Module,
    closure: ast.FunctionDef | ast.AsyncFunctionDef,
    scope: Scope,
    chains: Iterable[Sequence[ast.stmt]],
    last: ast.stmt,
) -> Iterator[Proposal]:
    """Yield proposals that move statements of the scope into the closure; from another function
    than the enclosing one only those that need none of its locals.
    """
    editor, old, step = Editor(module), _reading_old(story, closure), _calling(story, module)
    within = module.scope_of(closure) is scope
    for rank, made_there in enumerate(chains):
        chain = _with_clearing(module, scope, closure, step, made_there)
        made = bound_by(chain)
        if not within and (read_by(chain) - made) & names_bound(scope):
            continue
        first = next((s for s in closure.body if names_read(s) & made or s in old), last)
        kept = _returned_by_step(editor, scope, closure, step, chain) if within else ()
        moved = copy_into if kept is None else move_into
        title = "Move forward and loss into " + ("the closure" if within else f"`{closure.name}`")
        edits = (*moved(editor, chain, first), *(kept or ()))
        yield Proposal("forward-into-closure", title, edits, "", rank)


def _calling(story: ReuseFeatures, module: Module) -> ast.stmt | None:
    """Return the statement around the closure that was running: its optimizer's step."""
    calling = story.reuse.reached.stack[-2:-1]
    return module.statement_at(calling[0].line, calling[0].column) if calling else None


def forward_outside(story: ReuseFeatures) -> CodeLine | None:
    """Return the statement around the closure that computed what the closure uses repeatedly; or
    the call that was seen to leave old values in its objects.
    """
    where = resolve_location(story.project, story.reuse.reached.at)
    if where is None:
        return None
    made = story.edge.old.at if story.edge is not None else None
    around = (_calling(story, where.module), where.scope)
    blocks = [where.module.block_of(one) for one in around if isinstance(one, ast.stmt)]
    making = [leading_to(story.project, block, made) for block in blocks if made is not None]
    read = names_read(where.scope)
    left = [one for one in making if one is not None and read & {*bindings(one)}]
    left = left or story.storing_calls(where.module.scope_of(where.scope))
    return CodeLine(where.module.path, left[0].lineno) if left else None


def _reading_old(
    story: ReuseFeatures, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> list[ast.stmt]:
    """Return the statements of the closure that were seen to compute from old values, including
    calls.
    """
    places = [edge.new.at for edge in story.reuse.stale_edges if edge.new is not None]
    found = [leading_to(story.project, closure.body, at) for at in places if at is not None]
    return [statement for statement in found if statement is not None]


def _call_maker(
    story: ReuseFeatures, module: Module, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Proposal]:
    """Yield proposals in which the closure itself calls the method that computes the carrier."""
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


def _with_clearing(
    module: Module,
    scope: Scope,
    closure: ast.AST,
    step: ast.stmt | None,
    chain: Sequence[ast.stmt],
) -> list[ast.stmt]:
    """Return the chain with the statement that clears gradients outside of a closure which does not
    clear them: otherwise each call adds to the gradients of the last.
    """
    if calls_of(closure, *ZERO_GRAD):
        return [*chain]
    given = receivers_of(steps(step)) if step is not None else set()
    clears = [s for s in statements_of(scope) if isinstance(s, ast.Expr)]
    clears = [
        s
        for s in clears
        if (cleared := receivers_of(calls_of(s, *ZERO_GRAD)))
        and (cleared & given or s in module.block_of(chain[-1]))
    ]
    return sorted({*chain, *clears}, key=lambda s: s.lineno)


def _lambda_for_partial(
    project: Project, closure: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Proposal]:
    """Yield a proposal that turns `partial(closure, loss)` into `lambda: closure(forward(...))`, so
    that each call computes the loss.
    """
    for module, call in each_call(project, "functools.partial"):
        if not call.args or spelled(call.args[0]) != closure.name:
            continue
        rest: list[ast.expr | ast.keyword] = [*call.args[1:], *call.keywords]
        editor = Editor(module)
        for given in rest:
            argument = given.value if isinstance(given, ast.keyword) else given
            made = _only_definition(module, argument)
            if made is not None:
                start, end = editor.span(call)[0], editor.span(rest[0])[0]
                called = Edit(module.path, start, end, f"lambda: {closure.name}(")
                put = editor.replace(argument, editor.text_of(made.value))
                title = f"Make `{spelled(argument)}` in each call of the closure"
                edits = (editor.delete(made), called, put)
                yield Proposal("forward-into-closure", title, edits)


def _only_definition(module: Module, argument: ast.expr) -> ast.Assign | None:
    """Return the only statement that binds a name, if only this argument reads it."""
    scope = module.scope_of(argument)
    match definitions(scope, spelled(argument)):
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.BinOp()) as made]:
            return made if names_loaded(walk(scope), name) == [argument] else None
    return None


def _returned_by_step(
    editor: Editor,
    scope: Scope,
    closure: ast.AST,
    step: ast.stmt | None,
    chain: Sequence[ast.stmt],
) -> tuple[Edit, ...] | None:
    """Return edits that keep the moved names readable after `optimizer.step(closure)`: its return
    value is the loss. Return None if other moved names are read outside of the closure.
    """
    read = {node.id for node in other_reads(scope, chain, closure)}
    if not read:
        return ()
    returned = {spelled(r.value) for r in returns_of(closure) if r.value is not None}
    if read != returned or not isinstance(step, ast.Expr):
        return None
    start, _ = editor.span(step)
    return (Edit(editor.module.path, start, start, f"{read.pop()} = "),)
