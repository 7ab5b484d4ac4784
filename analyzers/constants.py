"""Values that one of two losses only reads: how sure we are, and where to detach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.blocks import alias, wrapped
from analyzers.edits import Edit, Editor
from analyzers.flow import (
    bindings,
    called_name,
    mentions,
    names_read,
    own_expressions,
    value_of,
    walk_scope,
)
from analyzers.pattern import Proposal
from analyzers.rewrite import statements_of, steps
from analyzers.source import Project, Scope, spelled
from analyzers.stories import Story
from analyzers.targets import helper_targets, maker_called_inside, target_calls
from analyzers.trees import walk


def meant_as_constant(story: Story) -> float:
    """How surely one of the walks only meant to read the carrier; 0 where nothing says so."""
    shared = story.shared
    if shared is None:
        return 0.0
    if not story.same_pass:
        if story.reuse.remade and not story.bound_inside and not story.cached:
            return 0.85
        if maker_called_inside(story) and not story.bound_inside:
            return 0.88
        if (target_calls(story) or helper_targets(story)) and not story.self_fed:
            return 0.55 if _kept_for_later(story) else 0.88
        return 0.82 if story.same_consumer and not story.bound_inside else 0.0
    if target_calls(story) or helper_targets(story):
        return 0.88
    if _weighs_log_probability(story):
        return 0.86
    if story.same_consumer:
        return 0.86 if _steps_between(story) else 0.72
    return 0.7 if _steps_between(story) else 0.4


def _kept_for_later(story: Story) -> bool:
    """Whether the loop binds the carrier behind the walk: not for this pass, for the next."""
    shared = story.shared
    assert shared is not None
    inside = set(walk(story.loop)) if story.loop is not None else set()
    bound = [s for _, scope, s in story.binders if scope is shared.scope and s in inside]
    return bool(bound) and all(s.lineno > shared.freed_line for s in bound)


def _steps_between(story: Story) -> bool:
    """Whether an optimizer steps after the first walk and before the second loss is made."""
    shared = story.shared
    assert shared is not None
    if any(shared.freed_line < call.lineno < shared.reached_line for call in steps(shared.scope)):
        return True
    module = story.project.module(story.reuse.freed.at.file)
    if module is None or story.reuse.freed.at.line == shared.freed_line:
        return False
    statement = module.statement_at(story.reuse.freed.at.line)
    if statement is None:
        return False
    helper = module.scope_of(statement)
    return any(call.lineno > statement.lineno for call in steps(helper))


def _weighs_log_probability(story: Story) -> bool:
    """Whether the carrier multiplies a log-probability (the weight of a policy gradient)."""
    shared = story.shared
    assert shared is not None
    logs = {
        name
        for statement in statements_of(shared.scope)
        if (value := value_of(statement)) is not None
        and any(isinstance(n, ast.Attribute) and n.attr == "log_prob" for n in walk(value))
        for name in bindings(statement)
    }
    for node in walk_scope(shared.scope):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            if mentions(node, story.name) and any(mentions(node, name) for name in logs):
                return True
    return False


def detach_at_use(story: Story, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Detach the carrier where the first loss reads it; or where the second does."""
    shared = story.shared
    if shared is None or not story.name:
        return
    yield from _in_target_calls(story, rank)
    yield from _in_helpers(story, rank)
    walks = (("first", story.reuse.freed), ("second", story.reuse.reached))
    for later, (title, visit) in enumerate(walks):
        line = shared.reached_line if later else shared.freed_line
        edits = _uses(story, line, story.called_for(visit) if story.same_line else "")
        if edits:
            yield Proposal(
                f"detach-in-{title}-loss",
                f"Give the {title} loss a detached `{story.name}`",
                edits,
                "same",
                "That loss no longer sends gradient through it.",
                rank + later,
            )


def _in_target_calls(story: Story, rank: int) -> Iterator[Proposal]:
    """Detach what a loss function gets as its target."""
    shared = story.shared
    assert shared is not None
    editor = Editor(shared.module)
    edits = tuple(editor.append_to(call.args[1], ".detach()") for call in target_calls(story))
    if edits:
        target = editor.text_of(target_calls(story)[0].args[1])
        yield Proposal(
            "detach-target",
            f"Give the loss a detached `{target}`",
            edits,
            "same",
            "The target is a constant for the loss that compares with it.",
            rank,
        )


def _in_helpers(story: Story, rank: int) -> Iterator[Proposal]:
    """Detach the target in the functions that compare with it, whoever calls them."""
    for target in helper_targets(story):
        editor = Editor(target.module)
        edits = tuple(
            editor.append_to(node, ".detach()")
            for node in walk(target.function)
            if isinstance(node, ast.Name)
            and node.id == target.parameter
            and isinstance(node.ctx, ast.Load)
        )
        yield Proposal(
            "detach-target",
            f"Detach `{target.parameter}` in `{target.function.name}`",
            edits,
            "same",
            "The target is a constant for the loss that compares with it.",
            rank,
        )


def _uses(story: Story, line: int, only: str = "") -> tuple[Edit, ...]:
    """Edits that detach the carrier wherever the loss that is walked on the line reads it; of a
    line with several calls, in the one of the function `only`."""
    shared = story.shared
    assert shared is not None
    editor = Editor(shared.module)
    edits: list[Edit] = []
    for statement in leading_to(shared.scope, line, story.name):
        for node in _read_by(statement, only):
            if not isinstance(node, ast.Name | ast.Attribute) or spelled(node) != story.name:
                continue
            parent = shared.module.parents.get(node)
            if isinstance(parent, ast.Attribute) and parent.attr in _NO_GRAPH:
                continue
            if isinstance(node.ctx, ast.Load):
                edits.append(editor.append_to(node, ".detach()"))
    return tuple(edits)


def _read_by(statement: ast.stmt, function: str) -> Iterator[ast.AST]:
    """The nodes of a statement's own expressions, or only those in calls of the function."""
    for node in own_expressions(statement):
        if not function:
            yield node
        elif isinstance(node, ast.Call) and called_name(node) == function:
            yield from walk(node)


_NO_GRAPH = ("detach", "shape", "size", "item", "dtype", "device")


def leading_to(scope: Scope, line: int, stop: str) -> list[ast.stmt]:
    """The statements from which the one on the line gets its values, back to where `stop` is
    bound: a backward slice over the scope in source order."""
    before = [s for s in statements_of(scope) if s.lineno <= line]
    found: list[ast.stmt] = []
    wanted: set[str] = set()
    for statement in sorted(before, key=lambda s: -s.lineno):
        if not found:
            if statement.lineno <= line <= (statement.end_lineno or line):
                found.append(statement)
                wanted |= _own_names(statement)
            continue
        bound = set(bindings(statement))
        if stop in bound:
            break
        if bound & wanted:
            found.append(statement)
            if isinstance(statement, ast.Assign):
                wanted -= bound
            wanted |= _own_names(statement) - {stop}
    return found


def _own_names(statement: ast.stmt) -> set[str]:
    return {name for node in own_expressions(statement) for name in names_read(node)}


def detach_at_definition(
    story: Story, project: Project, rank: int | None = None
) -> Iterator[Proposal]:
    """Detach the carrier where it is made, so that every reader gets a constant."""
    outside = not story.same_pass and not story.bound_inside
    for module, _, statement in story.binders:
        value = value_of(statement)
        if value is None or not isinstance(statement, ast.Assign):
            continue
        editor = Editor(module)
        single = all(isinstance(t, ast.Name | ast.Attribute) for t in statement.targets)
        edit = (
            editor.append_to(value, ".detach()")
            if single
            else editor.insert_after(statement, f"{story.name} = {story.name}.detach()")
        )
        yield Proposal(
            "detach-at-definition",
            f"Detach `{story.name}` where it is made",
            (edit,),
            "same",
            "No loss sends gradient through it any more.",
            rank if rank is not None else 0 if outside else 2,
        )
        return


def made_without_graph(story: Story, project: Project, rank: int = 1) -> Iterator[Proposal]:
    """Make the carrier under `no_grad`: what a loop only reads needs no graph from before it."""
    if story.shared is None or story.same_pass or story.bound_inside:
        return
    for module, scope, statement in story.binders:
        if scope is not story.shared.scope or not isinstance(statement, ast.Assign):
            continue
        edit = wrapped(Editor(module), [statement], f"with {alias(module, 'torch')}.no_grad():")
        if edit is not None and "torch" in module.text:
            yield Proposal(
                "no-grad-at-definition",
                f"Make `{story.name}` without a graph",
                (edit,),
                "same",
                "No loss sends gradient through it any more.",
                rank,
            )
        return
