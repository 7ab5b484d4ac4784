"""Fixes where whole modules were frozen: by a loop, by `requires_grad_(False)`, or by a function
that does so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.repair.reconnect.freezing import flags_set
from analyzers.repair.rewrite import move_after
from analyzers.source.callees import is_call
from analyzers.source.calls import PARAMETERS, calls_to, each_call
from analyzers.source.edits import Editor
from analyzers.source.project import Module, Project, spelled
from analyzers.source.signatures import named
from analyzers.source.statement_ranges import ahead_of
from analyzers.source.trees import nodes_of
from provenance import CodeLine


@dataclass(frozen=True)
class Freeze:
    """A statement that freezes all parameters of a module, the `owner`, or calls a function that
    freezes its argument, called `within` there."""

    module: Module
    statement: ast.stmt
    owner: str
    within: str

    @property
    def place(self) -> CodeLine:
        """Return the line that freezes, or that calls what does."""
        body = getattr(self.statement, "body", [self.statement])
        return CodeLine(self.module.path, body[0].lineno)


def _freezes(project: Project) -> list[Freeze]:
    """Return what freezes modules; where some of these modules are handed to optimizers, only
    theirs: the others are meant to stay as they are.
    """
    found = [one for freeze in _frozen(project) for one in _called(freeze, project)]
    trained = {_owner(node) for node in _handed_to_optimizers(project)}
    return [freeze for freeze in found if freeze.owner in trained] or found


def _frozen(project: Project) -> Iterator[Freeze]:
    """Yield the statements that freeze all parameters of a module."""
    modules = {_owner(node) for _, node in each_call(project, *PARAMETERS)}
    for module, statement in project.each(ast.stmt):
        match statement:
            case ast.For(iter=source) if "parameters" in spelled(source):
                owner = _owner(source)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr="requires_grad_"))):
                owner = spelled(holder)
            case _:
                continue
        if owner in modules and False in flags_set(statement, project):
            yield Freeze(module, statement, owner, owner)


def _called(freeze: Freeze, project: Project) -> Iterator[Freeze]:
    """Yield the same, or the calls of the function whose argument it freezes."""
    function = freeze.module.scope_of(freeze.statement)
    if not isinstance(function, ast.FunctionDef) or freeze.owner not in named(function):
        yield freeze
        return
    for where, call in calls_to(project, function.name):
        statement = where.statement_at(call.lineno, call.col_offset)
        given = dict(arguments(call, freeze.module, function)).get(freeze.owner)
        if isinstance(statement, ast.Expr) and statement.value is call and given is not None:
            yield Freeze(where, statement, spelled(given), freeze.owner)


def _handed_to_optimizers(project: Project) -> Iterator[ast.Call]:
    """Yield the calls that hand the parameters of a module to the maker of an optimizer."""
    for _, making in project.each(ast.Call):
        if "optim" in spelled(making.func).lower():
            asked = (n for given in making.args for n in nodes_of(given, ast.Call))
            yield from (node for node in asked if is_call(node, *PARAMETERS))


def frozen_whole(project: Project) -> CodeLine | None:
    """Return where a whole module is frozen.

    Return None if the script also calls a module that is not frozen and passes on its parameters.
    """
    found = _freezes(project)
    frozen = {freeze.owner for freeze in found}
    calls = [node for _, node in project.each(ast.Call)]
    learning = {_owner(node) for node in calls if is_call(node, *PARAMETERS)} - frozen
    learning -= {freeze.within for freeze in found}
    if any(spelled(node.func) in learning for node in calls):
        return None
    return next((freeze.place for freeze in found), None)


def _owner(node: ast.expr) -> str:
    """Return the source of the object whose parameters an expression asks for, or ''."""
    return spelled(node).partition(".parameters")[0].partition(".named_parameters")[0]


def thawed(project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Propose to create new modules after what freezes, else to drop that."""
    for freeze in _freezes(project):
        editor, statement = Editor(freeze.module), freeze.statement
        new = [
            s
            for s in ahead_of(freeze.module, statement)
            if isinstance(s, ast.Assign) and spelled(s.targets[0]).startswith(f"{freeze.owner}.")
        ]
        if new:
            names = " and ".join(f"`{spelled(s.targets[0])}`" for s in new)
            title, edits = (
                f"Make {names} after the freezing",
                tuple(move_after(editor, new, statement)),
            )
            yield Proposal("new-part-unfrozen", title, edits, "", rank)
        tradeoff = "All of the model learns, where it was frozen on purpose or by mistake."
        yield Proposal("unfreeze", "Do not freeze", (editor.delete(statement),), tradeoff, rank + 2)
