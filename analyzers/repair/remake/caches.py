"""Caches that keep what has to be made anew: emptied by the script's own means, or done away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.evidence import Hop
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.occasions import CACHES, STORING, cache_of
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import unindented
from analyzers.repair.rewrite import made_anew
from analyzers.repair.sites.helpers import bare_methods
from analyzers.repair.sites.makings import makings
from analyzers.repair.sites.scopes import walked_behind
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk

_EMPTYING = ("clear", "pop", "popitem")
_KEPT = re.compile(r"(?P<owner>.+)\.(?P<attribute>\w+)(\[[^\[\]]*\])?")
_ELEMENT = re.compile(r"(?P<all>[\w.]+)\[\d+\]")


def without_cache(story: Story) -> Iterator[Proposal]:
    """The script's own method that empties the cache, called in each pass; else no cache."""
    yield from _emptied(story)
    yield from _without_guard(story)
    yield from _without_decorator(story)


def _emptied(story: Story) -> Iterator[Proposal]:
    """`layer.invalidate()` behind the step, for each object that keeps an old value."""
    shared = story.shared
    if shared is None or shared.freed is None or not shared.loops:
        return
    kept = [h for h in story.reuse.path if h.how == "outlived" and h.at.frame == shared.frame]
    found = [(owner, *method) for hop in kept for owner, *method in _emptying(hop, story.project)]
    owners = list(dict.fromkeys(owner for owner, _, _ in found))
    if not found or len({method for _, _, method in found}) > 1:
        return
    _, kind, method = found[0]
    behind = walked_behind(shared.module, shared.freed)
    lines = _calls(owners, kind, method)
    if len(owners) == 1 or len(lines) == 3:
        edit = Editor(shared.module).insert_after(behind, *lines)
        title = f"Call `{method}` in each pass, so that nothing old is kept"
        yield made_anew("no-cache", title, edit)


def _calls(owners: list[str], kind: str, method: str) -> list[str]:
    """The call on one object; or in a loop over the list that several of them are in."""
    matches = [_ELEMENT.fullmatch(owner) for owner in owners]
    together = {match["all"] if match else "" for match in matches}
    if len(owners) == 1 or len(together) > 1 or not all(together):
        return [f"{owner}.{method}()" for owner in owners]
    return [
        f"for part in {together.pop()}:",
        f"    if isinstance(part, {kind}):",
        f"        part.{method}()",
    ]


def _emptying(hop: Hop, project: Project) -> Iterator[tuple[str, str, str]]:
    """The object that has what a hop names, and the class and name of a method of its own that
    does nothing but give it up."""
    match = _KEPT.fullmatch(hop.name)
    if match is None:
        return
    owner, attribute = match["owner"], match["attribute"]
    for kind, method in bare_methods(project):
        if _only_empties(method, attribute):
            yield owner, kind.name, method.name


def _only_empties(method: ast.FunctionDef, attribute: str) -> bool:
    """Whether a method gives up one attribute (`self.x = None`, `del self.x`, `self.x.clear()`,
    `self.__dict__.pop("x")`) and does nothing else."""
    body = [s for s in method.body if not _is_text(s)]
    return bool(body) and all(_empties(s, attribute) for s in body)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _empties(statement: ast.stmt, attribute: str) -> bool:
    own = f"self.{attribute}"
    match statement:
        case ast.Assign():
            pairs = assigned_pairs(statement)
            return bool(pairs) and all(
                spelled(target) == own and not _reads(value) for target, value in pairs
            )
        case ast.Delete(targets=targets):
            return all(spelled(target) == own for target in targets)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=name), args=args)):
            named = [a.value for a in args if isinstance(a, ast.Constant)][:1] == [attribute]
            of_dict = spelled(held) == "self.__dict__" and named
            return name in _EMPTYING and (spelled(held) == own or of_dict)
    return False


def _reads(value: ast.expr) -> bool:
    """Whether a value is computed from anything."""
    return any(isinstance(node, ast.Name) for node in walk(value))


def _without_guard(story: Story) -> Iterator[Proposal]:
    """`if self.x is None: self.x = ...` becomes the assignment alone; an early return of what is
    cached goes."""
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
        yield made_anew("no-cache", title, edit)


def _without_decorator(story: Story) -> Iterator[Proposal]:
    """A cached function that makes graph nodes loses its cache: a library's, or a decorator of
    the script's own that holds the store."""
    caches = {*CACHES, *_holding_store(story)}
    for _, module, scope in story.made_in:
        if isinstance(scope, FUNCTIONS[:2]):
            for edit in _uncached(module, scope, caches):
                yield made_anew("no-cache", f"Do not cache `{scope.name}`", edit)
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
    decorator = cache_of(function, *caches)
    if decorator is None:
        return
    editor = Editor(module)
    if decorator is cache_of(function, STORING):
        yield editor.replace(decorator, "property")
    else:
        start, end = editor.span(decorator)
        line_start = module.text.rfind("\n", 0, start) + 1
        line_end = module.text.find("\n", end) + 1
        yield Edit(module.path, line_start, line_end, "")
