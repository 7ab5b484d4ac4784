"""Clear caches of values that must be recomputed, by the script's own method, or remove them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.execution_counts import CACHES, STORING, cache_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.repair.blocks import unindented
from analyzers.repair.rewrite import recomputed
from analyzers.repair.sites.definition_sites import makings
from analyzers.repair.sites.helpers import bare_methods
from analyzers.repair.sites.scopes import last_backward_or_step
from analyzers.source.edits import Editor
from analyzers.source.flow import names_read
from analyzers.source.project import FUNCTIONS, Project, spelled
from analyzers.source.trees import walk
from provenance import Binding

_EMPTYING = ("clear", "pop", "popitem")
_KEPT = re.compile(r"(?P<owner>.+)\.(?P<attribute>\w+)(\[[^\[\]]*\])?")
_ELEMENT = re.compile(r"(?P<all>[\w.]+)\[\d+\]")


def without_cache(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that call the script's own method to clear the cache in each iteration; else
    that remove the cache.
    """
    yield from _emptied(story)
    yield from _without_guard(story)
    yield from _without_decorator(story)


def _emptied(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals with `layer.invalidate()` after the step, for each object that holds an old
    value.
    """
    shared = story.shared
    if shared is None or not shared.loops:
        return
    kept = [h for h in story.reuse.path if h.how == "outlived" and h.at.frame == shared.frame]
    found = [one for binding in kept for one in _emptying(binding, story.project)]
    owners = list(dict.fromkeys(owner for owner, _, _ in found))
    if not found or len({method for _, _, method in found}) > 1:
        return
    _, kind, method = found[0]
    lists = {m["all"] if (m := _ELEMENT.fullmatch(owner)) else "" for owner in owners}
    lines = [f"{owners[0]}.{method}()"]
    if len(owners) > 1:  # parts of one list
        lines = [f"    if isinstance(part, {kind}):", f"        part.{method}()"]
        lines = [f"for part in {lists.pop()}:", *lines] if len(lists) == 1 and all(lists) else []
    if lines:
        edit = Editor(shared.module).insert_after(
            last_backward_or_step(shared.module, shared.freed), *lines
        )
        title = f"Call `{method}` in each iteration, so that nothing old is kept"
        yield recomputed("no-cache", title, edit)


def _emptying(binding: Binding, project: Project) -> Iterator[tuple[str, str, str]]:
    """Yield the object that holds the bound value, and the class and name of a method that does
    nothing but drop it.
    """
    if (match := _KEPT.fullmatch(binding.name)) is not None:
        for kind, method in bare_methods(project):
            body = [s for s in method.body if not _is_text(s)]
            if body and all(_empties(statement, match["attribute"]) for statement in body):
                yield match["owner"], kind.name, method.name


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _empties(statement: ast.stmt, attribute: str) -> bool:
    """Return True if a statement drops an attribute: `self.x = None`, `del self.x`,
    `self.x.clear()`, `self.__dict__.pop("x")`.
    """
    own = f"self.{attribute}"
    match statement:
        case ast.Assign(targets=[target], value=value):
            return spelled(target) == own and not names_read(value)
        case ast.Delete(targets=targets):
            return all(spelled(target) == own for target in targets)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=name), args=args)):
            named = [a.value for a in args if isinstance(a, ast.Constant)][:1] == [attribute]
            of_dict = spelled(held) == "self.__dict__" and named
            return name in _EMPTYING and (spelled(held) == own or of_dict)
    return False


def _without_guard(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that reduce `if self.x is None: self.x = ...` to the assignment, or remove an
    early return of a cached value.
    """
    for making in makings(story):
        guard = making.guard
        if guard is None or guard.orelse:
            continue
        editor = Editor(making.module)
        title = f"Compute `{making.name}` each time"
        if making.statement not in set(walk(guard)):
            edit = editor.delete(guard)
        else:
            edit = editor.replace(guard, unindented(editor, guard))
        yield recomputed("no-cache", title, edit)


def _without_decorator(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that remove the cache of a function that creates graph nodes: a library's
    decorator, or one of the script's own that holds the store.
    """
    holding = [a for module, _, statement in story.binders for a in module.ancestors(statement)]
    caches = {*CACHES, *(one.name for one in holding if isinstance(one, FUNCTIONS[:2]))}
    for _, module, scope in story.made_in:
        decorator = cache_of(scope, *caches)
        if decorator is not None and isinstance(scope, FUNCTIONS[:2]):
            editor, stores = Editor(module), decorator is cache_of(scope, STORING)
            edit = (
                editor.replace(decorator, "property") if stores else editor.delete_lines(decorator)
            )
            yield recomputed("no-cache", f"Do not cache `{scope.name}`", edit)
            return
