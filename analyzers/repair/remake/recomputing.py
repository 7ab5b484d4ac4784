"""Fixes for tensors that an object derived from its parameters once: compute them where used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.occasions import fills_cache
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import unindented
from analyzers.repair.remake.anew import anew_in_each_pass, moved_into_readers
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    call_on_line,
    mentions,
    names_read,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import walk

_CACHES = ("lru_cache", "cache", "cached_property")


def recompute_where_used(story: Story, project: Project) -> Iterator[Proposal]:
    """Undo a cache; or move the computation from the constructor to where it is read."""
    yield from _out_of_partial(story, project)
    yield from _without_guard(story)
    yield from _without_decorator(story, project)
    if story.attribute:
        yield from _out_of_constructor(story)
    else:
        yield from moved_into_readers(story)
    yield from anew_in_each_pass(story, project)


def _out_of_partial(story: Story, project: Project) -> Iterator[Proposal]:
    """`partial(f, x=g(p))` computes its argument once; `lambda *args: f(*args, x=g(p))` at each
    call."""
    places = {join.old.at for join in story.reuse.joins if join.old.at is not None}
    for place in sorted(places, key=lambda place: (place.file, place.line)):
        module = project.module(place.file)
        call = call_on_line(module, place.line, "partial") if module is not None else None
        if module is None or call is None or not call.args:
            continue
        editor = Editor(module)
        function, *bound = (editor.text_of(argument) for argument in call.args)
        given = [*bound, "*args", *(editor.text_of(keyword) for keyword in call.keywords)]
        text = f"lambda *args: {function}({', '.join(given)})"
        edit = editor.replace(call, text)
        yield _proposal("compute-in-call", f"Compute it at each call of `{function}`", (edit,))


def _proposal(strategy: str, title: str, edits: tuple[Edit, ...], rank: int = 0) -> Proposal:
    return Proposal(strategy, title, edits, "It is computed anew in each pass.", rank)


def _without_guard(story: Story) -> Iterator[Proposal]:
    """`if self.x is None: self.x = ...` becomes the assignment alone; an early return of what is
    cached goes."""
    for module, _, statement in story.binders:
        guard = fills_cache(module, statement, story.attribute or story.name)
        if guard is None or guard.orelse:
            continue
        editor = Editor(module)
        if statement not in set(walk(guard)):
            edit = editor.delete(guard)
            yield _proposal("no-cache", f"Compute `{story.name}` each time", (edit,))
            continue
        edit = Edit(module.path, *editor.span(guard), unindented(editor, guard))
        yield _proposal("no-cache", f"Compute `{story.name}` each time", (edit,))


def _without_decorator(story: Story, project: Project) -> Iterator[Proposal]:
    """A cached function that makes graph nodes loses its cache: a library's, or a decorator of
    the script's own that holds the store."""
    caches = {*_CACHES, *_holding_store(story)}
    for join in story.reuse.joins:
        for node in (join.old, join.raising):
            if node is None or node.at is None:
                continue
            module = project.module(node.at.file)
            statement = module.statement_at(node.at.line) if module else None
            if module is None or statement is None:
                continue
            scope = module.scope_of(statement)
            if isinstance(scope, FUNCTIONS[:2]):
                for edit in _uncached(module, scope, caches):
                    yield _proposal("no-cache", f"Do not cache `{scope.name}`", (edit,))
                    return


def _holding_store(story: Story) -> Iterator[str]:
    """The functions that a store is local to, and those around them."""
    for module, _, statement in story.binders:
        for around in module.ancestors(statement):
            if isinstance(around, FUNCTIONS[:2]):
                yield around.name


def _uncached(
    module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, caches: set[str]
) -> Iterator[Edit]:
    editor = Editor(module)
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = spelled(called).rpartition(".")[2]
        if name == "cached_property":
            yield editor.replace(decorator, "property")
        elif name in caches:
            start, end = editor.span(decorator)
            line_start = module.text.rfind("\n", 0, start) + 1
            line_end = module.text.find("\n", end) + 1
            yield Edit(module.path, line_start, line_end, "")


def _out_of_constructor(story: Story) -> Iterator[Proposal]:
    """Move `self.x = f(self.p)` out of `__init__`: to the one method that reads it, or into a
    property when several do."""
    own = f"self.{story.attribute}"
    for module, scope, statement in story.binders:
        if getattr(scope, "name", "") != "__init__" or not isinstance(statement, ast.Assign):
            continue
        value = value_of(statement)
        owner = module.class_of(statement)
        if value is None or owner is None or not names_read(value):
            continue
        chain = _constructor_chain(scope, statement, value)
        if chain is None:
            continue
        editor = Editor(module)
        readers = [
            method
            for method in owner.body
            if isinstance(method, ast.FunctionDef)
            and method.name != "__init__"
            and any(mentions(s, own) for s in method.body)
        ]
        lines = [line for s in chain for line in editor.lines_of(s)]
        gone = tuple(editor.delete(s) for s in chain)
        if len(readers) == 1:
            body = readers[0].body
            documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
            first = body[1] if documented and len(body) > 1 else body[0]
            edits = (*gone, editor.insert_before(first, *lines))
            yield _proposal("compute-in-method", f"Compute `{own}` in `{readers[0].name}`", edits)
        if not all(isinstance(target, ast.Attribute) for target in statement.targets):
            continue
        getter = _property(editor, story.attribute, chain, value)
        yield _proposal(
            "property",
            f"Make `{own}` a property, computed at each use",
            (*gone, editor.insert_after(scope, "", *getter))
            if isinstance(scope, ast.stmt)
            else gone,
            1,
        )


def _constructor_chain(
    scope: ast.AST, statement: ast.Assign, value: ast.expr
) -> list[ast.stmt] | None:
    """The statement with the constructor's local ones that it needs; None where it needs the
    constructor's arguments."""
    arguments = {a.arg for a in scope.args.args} if isinstance(scope, ast.FunctionDef) else set()
    chain: list[ast.stmt] = [statement]
    wanted = {n for n in names_read(value) if "." not in n}
    before = [
        s for s in walk_scope(scope) if isinstance(s, ast.Assign) and s.lineno < statement.lineno
    ]
    for other in reversed(before):
        if set(bindings(other)) & wanted and not any("." in n for n in bindings(other)):
            chain.insert(0, other)
            wanted |= {n for n in names_read(other.value) if "." not in n}
    return None if wanted & (arguments - {"self"}) else chain


def _property(editor: Editor, attribute: str, chain: list[ast.stmt], value: ast.expr) -> list[str]:
    local = [line for s in chain[:-1] for line in editor.lines_of(s)]
    return [
        "@property",
        f"def {attribute}(self):",
        *(f"    {line}" for line in local),
        f"    return {editor.text_of(value)}",
    ]
