"""Fixes that make a graph anew in each pass: the forward goes into the loop, or the closure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.remake.chains import chains_of, in_front, read_between
from analyzers.repair.remake.makers import draws, told
from analyzers.repair.rewrite import copy_into, head_of, move_into
from analyzers.repair.sites.scopes import covers
from analyzers.source.calls import calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings
from analyzers.source.project import Module, Scope


def forward_into_loop(story: Story, rank: int = 0) -> Iterator[Proposal]:
    """Move the statements that make the carrier to the head of the loop."""
    shared = story.shared
    loop = story.loop or (shared.loops[0] if shared is not None and shared.loops else None)
    if shared is None or loop is None:
        return
    names = {c.name for c in story.carriers} or story.root_names
    if not any(True for _ in chains_of(shared.module, shared.scope, loop, names)):
        names = names | _made_in_front(story, shared.module, shared.scope, loop)
    for module, scope in _scopes_around(shared.module, shared.scope):
        chains = list(chains_of(module, scope, loop, names))
        for place, chain in enumerate(chains):
            editor = Editor(module)
            alone = not read_between(scope, chain, loop)
            edits = (move_into if alone else copy_into)(editor, chain, head_of(loop))
            cost = "The forward runs once in each pass."
            if draws(chain):
                cost += " Random numbers are drawn anew each time."
            title = f"Compute {told(chain)} inside the loop"
            yield Proposal("forward-into-loop", title, edits, cost, rank + place)
        if chains:
            return


def _made_in_front(story: Story, module: Module, scope: Scope, loop: ast.stmt) -> set[str]:
    """Names that stand in front of the loop for what was made there together with the old graph:
    by the statement itself, by a function, or by a constructor."""
    makers, lines = set[str](), set[int]()
    for at in (join.old.at for join in story.reuse.joins if join.old.at is not None):
        *owners, function = at.function.split(".")
        makers.add(owners[-1] if function == "__init__" and owners else function)
        lines |= {at.line} if at.file == module.path else set()
    return {
        name
        for statement in in_front(module, scope, loop)
        if calls_named(statement, *makers) or any(covers(statement, line) for line in lines)
        for name in bindings(statement)
    }


def _scopes_around(module: Module, scope: Scope) -> Iterator[tuple[Module, Scope]]:
    """The scope and those around it, innermost first."""
    yield module, scope
    node: ast.AST = scope
    while not isinstance(node, ast.Module):
        node = module.scope_of(node)
        assert isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield module, node
