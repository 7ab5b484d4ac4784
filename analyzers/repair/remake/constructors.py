"""What a constructor, or a method called ahead of the loop, derives from parameters, computed
where it is read instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.beforehand import ran_before
from analyzers.explain.reuse.occasions import binds_nothing
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import lines_with, text_with
from analyzers.repair.rewrite import head_of, made_anew
from analyzers.repair.sites.makings import Making, makings
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    bound_within,
    mentions,
    names_bound,
    names_read,
    statements_of,
    value_of,
    walk_scope,
)
from analyzers.source.project import spelled
from analyzers.source.signatures import named
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import position, walk


def out_of_constructor(story: Story) -> Iterator[Proposal]:
    """Move `self.x = f(self.p)` out of `__init__`, or out of a method that ran before the loop: to
    the one method that reads it, or into a property. Arguments that it needs are kept."""
    for making in makings(story):
        moved = _moved(story, making)
        if moved is None:
            continue
        editor, maker, own = moved.editor, moved.maker, moved.own
        readers = [
            method
            for method in moved.owner.body
            if isinstance(method, ast.FunctionDef)
            and method is not maker
            and any(mentions(s, own) for s in method.body)
        ]
        gone = moved.gone()
        if len(readers) == 1 and not moved.names & _names_of(readers[0]):
            put = editor.insert_before(head_of(readers[0]), *moved.lines())
            title = f"Compute `{own}` in `{readers[0].name}`"
            yield made_anew("compute-in-method", title, *gone, put)
        placeholders = moved.bound_elsewhere()
        single = all(isinstance(target, ast.Attribute) for target in moved.chain[-1].targets)
        if single and all(binds_nothing(statement) for statement in placeholders):
            put = editor.insert_after(maker, "", *moved.getter())
            title = f"Make `{own}` a property, computed at each use"
            empty = editor.delete_all(placeholders)
            yield made_anew("property", title, *gone, *empty, put, rank=1)


@dataclass(frozen=True)
class _Moved:
    """Statements that leave their method, and the arguments that they need, by the attributes
    that keep those; `added` are arguments that the method has to keep from now on."""

    editor: Editor
    maker: ast.FunctionDef
    owner: ast.ClassDef
    chain: list[ast.Assign]
    own: str
    kept: dict[str, str]
    added: list[str]

    def gone(self) -> list[Edit]:
        """The chain taken out, with what has to be kept in its place."""
        read = {n for s in statements_of(self.maker) if s not in self.chain for n in names_read(s)}
        edits = [
            self.editor.delete(statement)
            for statement in self.chain
            if statement is self.chain[-1] or not set(bindings(statement)) & read
        ]
        if self.added:
            lines = [f"self.{name} = {name}" for name in self.added]
            edits[-1] = self._in_place(self.chain[-1], lines)
        return edits

    def _in_place(self, statement: ast.stmt, lines: list[str]) -> Edit:
        indent = self.editor.newline + self.editor.indent_of(statement)
        return self.editor.replace(statement, indent.join(lines))

    @property
    def names(self) -> set[str]:
        """The local names that the chain brings along."""
        return {n for s in self.chain for n in bindings(s) if "." not in n}

    def bound_elsewhere(self) -> list[ast.stmt]:
        """Other statements of the class that give the attribute a value."""
        return [
            statement
            for statement in walk(self.owner)
            if isinstance(statement, ast.stmt)
            and statement is not self.chain[-1]
            and self.own in bindings(statement)
        ]

    def lines(self, statements: Sequence[ast.stmt] | None = None) -> list[str]:
        """The statements as they read in another method."""
        chosen = self.chain if statements is None else statements
        return [line for s in chosen for line in lines_with(self.editor, s, self._renamed(s))]

    def getter(self) -> list[str]:
        """The chain as a property."""
        value = self.chain[-1].value
        return [
            "@property",
            f"def {self.own.removeprefix('self.')}(self):",
            *(f"    {line}" for line in self.lines(self.chain[:-1])),
            f"    return {text_with(self.editor, value, self._renamed(value))}",
        ]

    def _renamed(self, node: ast.AST) -> list[Edit]:
        """Arguments of the constructor by the names of their attributes."""
        return [
            self.editor.replace(name, f"self.{self.kept[name.id]}")
            for name in walk(node)
            if isinstance(name, ast.Name) and name.id in self.kept
        ]


def _moved(story: Story, making: Making) -> _Moved | None:
    """What a making takes along out of its method; None where it cannot leave."""
    scope, statement, owner = (
        making.scope,
        making.statement,
        making.module.class_of(making.statement),
    )
    if not isinstance(scope, ast.FunctionDef) or owner is None or not _ahead(story, scope):
        return None
    if not isinstance(statement, ast.Assign) or not names_read(statement.value):
        return None
    chain = _chain(scope, statement)
    read = {name for s in chain for name in names_read(s.value) if "." not in name}
    bound = names_bound(scope)
    needed = sorted(read & (named(scope) - {"self"}))
    if any(name in bound for name in needed):
        return None
    keeping = {
        spelled(value): spelled(target).removeprefix("self.")
        for s in walk_scope(scope)
        for target, value in assigned_pairs(s)
        if isinstance(target, ast.Attribute) and spelled(target).startswith("self.")
    }
    added = [name for name in needed if name not in keeping]
    if any(f"self.{name}" in bound_within(owner) for name in added):
        return None
    kept = {name: keeping.get(name, name) for name in needed}
    editor = Editor(making.module)
    return _Moved(editor, scope, owner, chain, making.name, kept, added)


def _names_of(method: ast.FunctionDef) -> set[str]:
    """What a method calls its own: its arguments, and what it gives a value."""
    rest = {a.arg for a in (method.args.vararg, method.args.kwarg) if a is not None}
    return named(method) | rest | names_bound(method)


def _ahead(story: Story, method: ast.FunctionDef) -> bool:
    """Whether a method runs while its object is made, or was called ahead of the loop."""
    return method.name == "__init__" or (
        method.name not in ("forward", "__call__") and ran_before(story, method)
    )


def _chain(scope: ast.FunctionDef, statement: ast.Assign) -> list[ast.Assign]:
    """The statement with the constructor's local ones that it needs."""
    chain = [statement]
    wanted = {n for n in names_read(statement.value) if "." not in n}
    before = [s for s in walk_scope(scope) if isinstance(s, ast.Assign)]
    for other in reversed([s for s in before if position(s) < position(statement)]):
        if set(bindings(other)) & wanted and not any("." in n for n in bindings(other)):
            chain.insert(0, other)
            wanted |= {n for n in names_read(value_of(other) or other) if "." not in n}
    return chain
