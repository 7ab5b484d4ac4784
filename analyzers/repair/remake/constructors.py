"""Compute what a constructor, or a method called before the loop, derives from parameters where it
is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.execution_counts import binds_nothing
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.runs_before import ran_before
from analyzers.explain.source_locations import assignments_to, names_held
from analyzers.repair.blocks import joined, lines_with, rewritten, text_with
from analyzers.repair.rewrite import head_of, recomputed
from analyzers.repair.sites.definition_sites import DefinitionSite, makings
from analyzers.repair.value_only.storing import is_plain
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    bound_within,
    mentions,
    names_bound,
    names_read,
    statements_of,
    walk_scope,
)
from analyzers.source.project import Project, Scope, spelled
from analyzers.source.signatures import named, own_names
from analyzers.source.statement_ranges import bound_by, computing, read_by
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, position
from provenance import Referrer


def out_of_constructor(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that move `self.x = f(self.p)` out of `__init__`, or out of a method that ran
    before the loop: to the only method that reads it, or into a property. Needed arguments are
    stored.
    """
    for making in makings(story):
        moved = _moved(making) if _ran_once(story, making.scope) else None
        if moved is None:
            continue
        editor, maker, own, last = moved.editor, moved.maker, moved.own, moved.chain[-1]
        readers = readers_of(moved.owner, own, maker)
        gone, local = moved.gone(), bound_by(moved.chain) - {own}
        if len(readers) == 1 and not local & own_names(readers[0]):
            put = editor.insert_before(head_of(readers[0]), *moved.lines(moved.chain))
            title = f"Compute `{own}` in `{readers[0].name}`"
            yield recomputed("compute-in-method", title, *gone, put)
        given = [s for s in nodes_of(moved.owner, ast.stmt) if own in bindings(s)]
        others = [s for s in given if s is not last]
        single = all(isinstance(target, ast.Attribute) for target in last.targets)
        if single and all(map(binds_nothing, others)):
            edits = [*moved.as_property(), *editor.delete_all(others)]
            title = f"Make `{own}` a property, computed at each use"
            yield recomputed("property", title, *edits, rank=1)


def derive_by_property(
    holders: Sequence[Referrer], project: Project, rank: int = 0
) -> Iterator[Proposal]:
    """Yield a proposal that makes an attribute, which a class derives from others of its own, a
    property: computed at each use, never stored. It must have one store.
    """
    for name in names_held(holders):
        stores = [(m, s) for m, s in assignments_to(project, name) if not is_plain(s.value)]
        if "." in name and len(stores) == 1:
            module, store = stores[0]
            own = spelled(store.targets[0])
            moved = _moved(DefinitionSite(module, module.scope_of(store), store, own))
            if moved is not None and own.startswith("self.") and not moved.kept:
                title = f"Compute `{own}` where it is used, as a property"
                yield Proposal("property", title, joined(moved.as_property()), "", rank)
                return


def called_in_forward(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that calls a module's method once more in `forward`, where that method made
    the value under no name of its own (`setattr`), needs no argument, and had run before the loop:
    `self._set_weights()`.
    """
    made = story.edge.old.at if story.edge is not None else None
    module = story.project.module(made.file) if made is not None else None
    maker = module.function_named(made.function) if module is not None and made else None
    owner = module.class_of(maker) if module is not None and maker is not None else None
    if module is None or owner is None or not isinstance(maker, ast.FunctionDef):
        return
    if any(node.value is not None for node in nodes_of(maker, ast.Return)):
        return
    if any(making.scope is maker and "." in making.name for making in makings(story)):
        return
    methods = {m.name: m for m in owner.body if isinstance(m, ast.FunctionDef)}
    forward, call = methods.get("forward"), f"self.{maker.name}()"
    if forward is None or maker.name.startswith("__") or named(maker) != {"self"}:
        return
    if methods.get(maker.name) is maker and not mentions(forward, f"self.{maker.name}"):
        put = Editor(module).insert_before(head_of(forward), call)
        yield recomputed("call-in-forward", f"Call `{call}` in `forward`", put)


def readers_of(owner: ast.ClassDef, name: str, maker: ast.FunctionDef) -> list[ast.FunctionDef]:
    """Return the methods that read an attribute, except the one that binds it."""
    methods = [m for m in owner.body if isinstance(m, ast.FunctionDef) and m is not maker]
    return [method for method in methods if any(mentions(s, name) for s in method.body)]


def kept_by(scope: Scope, owner: str = "self") -> dict[str, str]:
    """Return what a function stores unchanged in attributes of an object, with the attributes'
    names.
    """
    return {
        spelled(value): spelled(target).removeprefix(f"{owner}.")
        for node in walk_scope(scope)
        for target, value in assigned_pairs(node)
        if isinstance(target, ast.Attribute) and spelled(target).startswith(f"{owner}.")
    }


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
        """Return edits that remove the chain, and store what has to be kept."""
        read = {n for s in statements_of(self.maker) if s not in self.chain for n in names_read(s)}
        edits = [
            self.editor.delete(statement)
            for statement in self.chain
            if statement is self.chain[-1] or not set(bindings(statement)) & read
        ]
        if self.added:
            indent = self.editor.newline + self.editor.indent_of(self.chain[-1])
            lines = indent.join(f"self.{name} = {name}" for name in self.added)
            edits[-1] = self.editor.replace(self.chain[-1], lines)
        return edits

    def lines(self, statements: Sequence[ast.stmt]) -> list[str]:
        """Return the statements as they read in another method."""
        return [line for s in statements for line in lines_with(self.editor, s, self._renamed(s))]

    def as_property(self) -> list[Edit]:
        """Return edits that make the attribute a property. A method that does nothing else goes,
        with its calls."""
        if self.added or self.maker.body != self.chain:
            return [*self.gone(), self.editor.insert_after(self.maker, "", *self._getter())]
        called = f"self.{self.maker.name}()"
        calls = [n for n in nodes_of(self.owner, ast.Expr) if spelled(n.value) == called]
        getter = rewritten(self.editor, [self.maker], self._getter())
        return [getter, *self.editor.delete_all(calls)]

    def _getter(self) -> list[str]:
        """Return the chain as a property."""
        value = self.chain[-1].value
        return [
            "@property",
            f"def {self.own.removeprefix('self.')}(self):",
            *(f"    {line}" for line in self.lines(self.chain[:-1])),
            f"    return {text_with(self.editor, value, self._renamed(value))}",
        ]

    def _renamed(self, node: ast.AST) -> list[Edit]:
        """Return edits that replace arguments of the constructor by their attributes."""
        return [
            self.editor.replace(name, f"self.{self.kept[name.id]}")
            for name in nodes_of(node, ast.Name)
            if name.id in self.kept
        ]


def _ran_once(story: ReuseFeatures, scope: Scope) -> bool:
    """Return True for a constructor, and for another method that ran before the loop."""
    name = getattr(scope, "name", "")
    return name == "__init__" or (name not in ("forward", "__call__") and ran_before(story, scope))


def _moved(making: DefinitionSite) -> _Moved | None:
    """Return a definition with the local statements that it needs, to be moved out of its method.
    Return None if it cannot be moved.
    """
    scope, statement = making.scope, making.statement
    owner = making.module.class_of(statement)
    if not isinstance(scope, ast.FunctionDef) or owner is None:
        return None
    if not isinstance(statement, ast.Assign) or not names_read(statement.value):
        return None
    if isinstance(statement.value, ast.Tuple):  # it makes something else, too
        return None
    before = [s for s in walk_scope(scope) if isinstance(s, ast.Assign) and s is not statement]
    before = [s for s in before if position(s) < position(statement)]
    local = [s for s in before if not any("." in name for name in bindings(s))]
    led = computing(local, names_read(statement.value))
    chain = [s for s in (*led, statement) if isinstance(s, ast.Assign)]
    needed = sorted(read_by(s.value for s in chain) & (named(scope) - {"self"}))
    keeping = kept_by(scope)
    added = [name for name in needed if name not in keeping]
    if {*needed} & names_bound(scope) or {f"self.{n}" for n in added} & bound_within(owner):
        return None
    kept = {name: keeping.get(name, name) for name in needed}
    if making.name in {f"self.{name}" for name in kept.values()}:
        return None  # it is such an argument
    return _Moved(Editor(making.module), scope, owner, chain, making.name, kept, added)
