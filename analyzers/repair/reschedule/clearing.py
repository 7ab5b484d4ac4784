"""Fix gradients that are never cleared: `zero_grad()` once for each step."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.rewrite import with_keyword
from analyzers.repair.sites.module_names import quote_of
from analyzers.source import priors
from analyzers.source.callees import own_name
from analyzers.source.calls import ZERO_GRAD, calls_of, named_alone, receivers_of, steps
from analyzers.source.edits import Editor
from analyzers.source.flow import is_dotted, statements_of, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.signatures import switches
from analyzers.source.statement_ranges import ahead_of, statements_after
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of


def optimizer_stepped(where: SourceLocation) -> str | None:
    """Return the optimizer of the step at a place."""
    return next(iter(_stepped(where.module, where.statement)), None)


def _stepped(module: Module, node: ast.AST) -> list[str]:
    """Return what steps: `opt` in `opt.step()`, `opt.step(closure)`, `scaler.step(opt)`."""
    found = []
    for call in steps(node):
        assert isinstance(call.func, ast.Attribute)
        owner, given = spelled(call.func.value), [spelled(a) for a in call.args if is_dotted(a)]
        scales = "scaler" in owner.lower() and not _is_optimizer(module, owner)
        takes = scales or any(_is_optimizer(module, name) for name in given)
        found.append(given[0] if given and takes else owner)
    return found


def _is_optimizer(module: Module, name: str) -> bool:
    """Return True if a name is an optimizer by its uses: it is cleared, or
    created from parameters.
    """
    pairs = (pair for s in module.each(ast.Assign) for pair in assigned_pairs(s))
    made = (value for target, value in pairs if spelled(target) == name)
    cleared = name in receivers_of(calls_of(module.tree, *ZERO_GRAD))
    return cleared or any(calls_of(value, "torch.nn.Module.parameters") for value in made)


def cleared_already(
    where: SourceLocation, params: Sequence[str], *, before: bool = False, always: bool = False
) -> bool:
    """Return True if the step's own block clears this optimizer, or the model that owns the
    parameters (`before`: before the step; `always`: under no condition): then what was seen has
    another cause.
    """
    end = where.block.index(where.statement) if before else None
    clearing = _clearing(where, params, where.block[:end])
    return any(not (always and isinstance(s, ast.If)) for s in clearing)


def clears_others(where: SourceLocation, params: Sequence[str]) -> ast.stmt | None:
    """Return the statement of the block that claims to clear these parameters, unconditionally, by
    a `zero_grad` of the script's own; a run has seen what it misses.
    """
    clearing = _clearing(where, params, where.block)
    return next((s for s in clearing if isinstance(s, ast.Expr)), None)


def _clearing(
    where: SourceLocation, params: Sequence[str], block: Sequence[ast.stmt]
) -> Iterator[ast.stmt]:
    names = {optimizer_stepped(where), *(path.partition(".")[0] for path in params)}
    return (
        statement for statement in block if receivers_of(calls_of(statement, *ZERO_GRAD)) & names
    )


def clear_before_backward(
    where: SourceLocation, rank: int = 0, *, again: bool = False
) -> Iterator[Proposal]:
    """Yield proposals with `zero_grad()` before the first backward call that feeds the step,
    instead of one elsewhere; else before the last, if those before it are for others. `again`: the
    clear in the step's own block comes too early.
    """
    name = optimizer_stepped(where)
    if name is None:
        return
    title = f"Clear the gradients of `{name}` before each backward"
    if named := uncalled(where):
        edits = [where.editor.append_to(node, "()") for node in named]
        yield Proposal("zero-grad", title, joined(edits), "", rank)
        return
    line = f"{name}.zero_grad()"
    ahead = ahead_of(where.module, where.statement)
    stepped = max((at for at, s in enumerate(ahead) if steps(s)), default=-1)
    backwards = [
        s
        for s in ahead[stepped + 1 :]
        if calls_of(s, "torch.Tensor.backward", "lightning.LightningModule.manual_backward")
    ]
    places = [
        where.editor.insert_before(s, line)
        for s in dict.fromkeys([*backwards[:1], *backwards[-1:]])
    ]
    early = [s for s in ahead if again and spelled_alone(s).startswith(f"{name}.zero_grad(")]
    deleted = [where.editor.delete(s) for s in [*_elsewhere(where, name), *early]]
    for place in places or [where.editor.insert_after(where.statement, line)]:
        yield Proposal("zero-grad", title, joined([place, *deleted]), "", rank)
        rank += 1


def clear_after_ascent(where: SourceLocation, project: Project) -> Iterator[Proposal]:
    """Yield proposals that clear between two backward calls if the second is not part of what moved
    the weights: by a clearing option of the script's own, else by what clears (or steps) in this
    function, else by what the object itself steps or what moves the weights.
    """
    calls = _calls_since_backward(where)
    for call in calls:
        for _, function in project.functions_called(call):
            if (option := _clearing_option(function)) is not None:
                edit = with_keyword(where.editor, call, option)
                title = f"Let `{own_name(call)}` clear the gradients"
                yield Proposal("zero-grad", title, (edit,), "", 0)
    names = _clearing_or_stepping(where.module, where.scope)
    own = where.module.class_of(where.statement)
    held = receivers_of(steps(own)) if own is not None else set()
    names = names or sorted(name for name in held if name.startswith("self."))
    names = names or [spelled(owner) for owner in _climbers(calls, project)]
    around = (
        a for a in where.module.ancestors(where.scope) if isinstance(a, (*FUNCTIONS, ast.Module))
    )
    outside = (_clearing_or_stepping(where.module, a) for a in around)  # the scope is a closure
    names = names or next((found for found in outside if found), [])
    for rank, name in enumerate(dict.fromkeys(names[:2]), 1):
        edit = where.editor.insert_before(where.statement, f"{name}.zero_grad()")
        yield Proposal("zero-grad", f"Clear the gradients of `{name}` after it", (edit,), "", rank)


def _clearing_or_stepping(module: Module, scope: ast.AST) -> list[str]:
    """Return what a scope clears, then what it steps."""
    return [*sorted(receivers_of(calls_of(scope, *ZERO_GRAD))), *sorted(_stepped(module, scope))]


def _climbers(calls: Sequence[ast.Call], project: Project) -> Iterator[ast.expr]:
    """Yield the objects whose own methods are called, or which declare the ascent."""
    for call in calls:
        match call.func:
            case ast.Attribute(value=owner, attr=attr) if is_dotted(owner):
                if priors.is_ascent(attr) or any(project.functions_named(attr)):
                    yield owner


def ascends(where: SourceLocation, project: Project) -> bool:
    """Return True if the source shows that the code between two backward calls is the ascent of a
    sharpness-aware step: by its names, or by a clearing option that is off. Other methods
    (adversarial training) add both gradients on purpose.
    """
    names = {spelled(call.func) for call in _calls_since_backward(where)}
    functions = [f for n in names for _, f in project.functions_named(n.rpartition(".")[2])]
    names |= {node.name for _, node in project.each(ast.ClassDef)} | {where.place.function}
    said = any(priors.is_ascent(name) for name in names)
    return said or any(_clearing_option(function) for function in functions)


def _calls_since_backward(where: SourceLocation) -> list[ast.Call]:
    """Return the calls before a backward call and after the previous one."""
    ahead = ahead_of(where.module, where.statement)
    backwards = [at for at, s in enumerate(ahead) if calls_of(s, "torch.Tensor.backward")]
    between = ahead[backwards[-1] + 1 :] if backwards else ahead
    return [n for s in between for n in nodes_of(s, ast.Call)]


def _clearing_option(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return an option by which a function clears gradients, off by default."""
    options = set(switches(function))
    asked = (n for n in nodes_of(function, ast.If) if spelled(n.test) in options)
    return next((spelled(node.test) for node in asked if calls_of(node, *ZERO_GRAD)), None)


def clear_the_rest(
    where: SourceLocation, clearing: ast.stmt, project: Project
) -> Iterator[Proposal]:
    """Yield proposals that clear what a `zero_grad` of the script's own misses: in its class, else
    after its call; by the optimizer's own, if another's was called.
    """
    name = optimizer_stepped(where)
    called = [spelled(call.func) for call in calls_of(clearing, *ZERO_GRAD)]
    if f"{name}.zero_grad" not in called:
        yield from clear_before_backward(where)
        return
    title = f"Clear all gradients of `{name}`"
    for module, function in project.functions_named("zero_grad"):
        owner, last = module.class_of(function), function.body[-1]
        if owner is not None and owner.bases:
            editor = Editor(module)
            insert = editor.insert_before if isinstance(last, ast.Return) else editor.insert_after
            yield Proposal("zero-grad", title, (insert(last, "super().zero_grad()"),), "", 0)
    step, quote = indentation(where.module), quote_of(where.module)
    lines = [
        f"for group in {name}.param_groups:",
        f"{step}for p in group[{quote}params{quote}]:",
        f"{step * 2}p.grad = None",
    ]
    yield Proposal("zero-grad", title, (where.editor.insert_after(clearing, *lines),), "", 1)


def uncalled(where: SourceLocation) -> list[ast.expr]:
    """Return `opt.zero_grad` without parentheses, in the function that steps `opt`."""
    return list(named_alone(walk_scope(where.scope), f"{optimizer_stepped(where)}.zero_grad"))


def _elsewhere(where: SourceLocation, name: str) -> list[ast.Expr]:
    """Return calls that clear the optimizer after its step, or in an outer block of the same
    function.
    """
    following = [where.statement, *statements_after(where.module, where.statement)]
    clears = [s for s in [*in_outer_loops(where), *following] if isinstance(s, ast.Expr)]
    return [s for s in clears if spelled_alone(s).startswith(f"{name}.zero_grad(")]


def in_outer_loops(where: SourceLocation) -> list[ast.stmt]:
    """Return the statements of the loops around the innermost one, in the same function."""
    outer = [s for loop in where.module.loops_around(where.statement)[1:] for s in loop.body]
    own = {id(s) for s in statements_of(where.scope)}
    return [s for s in outer if id(s) in own]


def spelled_alone(statement: ast.stmt) -> str:
    """Return the statement's source if it is only an expression."""
    return spelled(statement.value) if isinstance(statement, ast.Expr) else ""
