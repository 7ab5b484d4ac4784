"""Inline one-line helpers: view a script as if what they return were written where they are called.

    def embedded(model, w):
        return model(w)                  image = embedded(model, w)   →   image = model(w)

Then everything that a statement does is in the statement, which is the place to move, cut or
recompute. Each line keeps its number. Evidence about the helper's line is mapped to the call's
line; in a patch, inlined code that was not changed becomes the call again.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from analyzers.explain.reuse.aliasing import returned
from analyzers.source.edits import Edit, Editor, apply, needs_parentheses
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.signatures import positional
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, walk
from provenance import CodeLine

_SIMPLE = (ast.Name, ast.Attribute, ast.Constant)
_SCOPES = (*FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)


@dataclass(frozen=True)
class InlinedCall:
    """A helper's only call and the expression that replaces it, after whitespace of unique width by
    which it is found again.
    """

    module: Module
    helper: ast.FunctionDef
    call: ast.Call
    said: ast.expr
    number: int = 0

    @cached_property
    def edit(self) -> Edit:
        """Return the edit that inlines the call, on as many lines as it took."""
        whole = isinstance(self.module.parents[self.call], ast.stmt)
        edit = self._replaced(self.call, self._text, whole)
        return replace(edit, text=self._gap + edit.text)

    @cached_property
    def emptied(self) -> Edit:
        """Return the edit that replaces the helper's result by a mark."""
        return self._replaced(self.answer, self._mark, whole=True)

    def _replaced(self, node: ast.expr, text: str, whole: bool) -> Edit:
        more = Editor(self.module).newline * ((node.end_lineno or node.lineno) - node.lineno)
        return Editor(self.module).replace(node, f"({text}{more})" if more or not whole else text)

    @property
    def is_unambiguous(self) -> bool:
        """Return True if nothing else in the file looks like what is inserted."""
        before = self.module.raw_lines[self.call.lineno - 1].encode()[: self.call.col_offset]
        text = self.module.text
        return bool(before.strip()) and self._gap not in text and self._mark not in text

    def restored(self, text: str) -> tuple[str, bool]:
        """Return a changed file with the helper restored and the call put back if the inlined code
        was not changed; and whether it was put back.
        """
        if self._gap not in text and self._mark not in text:
            return text, False
        call = Editor(self.module).text_of(self.call)
        end = r"(?=\s*(?:[\n#;,)\]}]|$))" if self._is_open else ""
        text, found = re.subn(re.escape(self.edit.text) + end, lambda _: call, text)
        text = re.sub(rf"(?<=\S)( ?){self._gap}(?! )", r"\1", text)
        return text.replace(self.emptied.text, Editor(self.module).text_of(self.answer)), found > 0

    @property
    def _is_open(self) -> bool:
        """Return True if a suffix added after the inserted code would bind to a part of it only."""
        whole = isinstance(self.module.parents[self.call], ast.stmt)
        spread = self.call.lineno != self.call.end_lineno
        is_part = needs_parentheses(self.said) or isinstance(self.said, ast.Tuple)
        return whole and not spread and is_part

    @property
    def answer(self) -> ast.expr:
        """Return the expression that the helper returns."""
        last = self.helper.body[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        return last.value

    @property
    def _gap(self) -> str:
        return " " * (30 + 2 * self.number)

    @property
    def _mark(self) -> str:
        """Return the mark that replaces the helper's result."""
        return f'"{self.helper.name} is written out"'

    @property
    def function(self) -> str:
        """Return the qualified name of the calling function."""
        parts: list[str] = []
        for node in self.module.ancestors(self.call):
            if isinstance(node, ast.ClassDef):
                parts.insert(0, node.name)
            elif isinstance(node, FUNCTIONS):
                name = getattr(node, "name", "<lambda>")
                parts[:0] = [name, "<locals>"] if parts else [name]
        return ".".join(parts) or "<module>"

    @property
    def _text(self) -> str:
        """Return the inlined source: the helper's own if the arguments have
        its parameters' names.
        """
        same = [getattr(a, "id", "") for a in self.call.args] == positional(self.helper)
        if same and self.answer.lineno == self.answer.end_lineno:
            return Editor(self.module).text_of(self.answer)
        return ast.unparse(self.said)

    @cached_property
    def lines(self) -> range:
        """Return the lines of the calling statement."""
        around = self.module.ancestors(self.call)
        statement = next(node for node in around if isinstance(node, ast.stmt))
        return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)

    def outside(self, path: str) -> str | None:
        """Return the caller's name for a value that the helper calls `path`;
        None if it has none.
        """
        root = re.split(r"[.\[]", path, maxsplit=1)[0]
        given = dict(zip(positional(self.helper), self.call.args, strict=True)).get(root)
        if not isinstance(given, ast.Name | ast.Attribute):
            return None
        return spelled(given) + path.removeprefix(root)

    def ran(self, place: CodeLine) -> bool:
        """Return True if a place is in the helper, or in one of its comprehensions."""
        last = self.helper.body[-1]
        inside = last.lineno <= place.line <= (last.end_lineno or last.lineno)
        own = place.function == self.helper.name or self.within(place.function) != place.function
        return inside and own and place.file == self.module.path

    def within(self, function: str) -> str:
        """Return the qualified name, in the caller, of one of the helper's comprehensions."""
        inner = function.removeprefix(f"{self.helper.name}.<locals>.")
        if inner == function or self.function == "<module>":
            return inner
        return f"{self.function}.<locals>.{inner}"


@dataclass(frozen=True)
class Inlined:
    """The project with calls written out."""

    project: Project
    calls: tuple[InlinedCall, ...]

    def restored(self, path: str, text: str) -> tuple[str, list[InlinedCall]]:
        """Return a file of this project with its calls restored, and the calls that could not be
        restored.
        """
        own = [one for one in self.calls if one.module.path == path]
        gone: list[InlinedCall] = []
        for one in reversed(own):
            text, found = one.restored(text)
            gone += [] if found else [one]
        return text, gone


def inlined(project: Project) -> Inlined | None:
    """Return the project with the only calls of its one-line helpers inlined; None without any."""
    calls = tuple(_apart(list(_written(project))))
    files = dict(project.files)
    changed = {one.module.path for one in calls}
    for path in changed:
        own = [one for one in calls if one.module.path == path]
        edits = [edit for one in own for edit in (one.edit, one.emptied)]
        files[path] = apply(files[path], edits)
    view = replace(project, files=files)
    return Inlined(view, calls) if calls and changed <= view.parsed.keys() else None


def _apart(calls: list[InlinedCall]) -> Iterator[InlinedCall]:
    """Yield the calls that lie in no other's call or helper, each with its own whitespace width."""
    number = 0
    for one in calls:
        others = [other for other in calls if other is not one and other.module is one.module]
        around = [node for other in others for node in (other.call, other.helper)]
        numbered = replace(one, number=number)
        if numbered.is_unambiguous and not any(one.module.holds(n, one.call) for n in around):
            number += 1
            yield numbered


def _written(project: Project) -> Iterator[InlinedCall]:
    """Yield the only calls of functions that do nothing but return something."""
    named = Counter(
        name for module in project.modules.values() for n in module.nodes for name in _names(n)
    )
    own = {
        (module.path, node.name): node
        for module in project.modules.values()
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and named[node.name] == 2
    }
    for module, call in project.each(ast.Call) if own else ():
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if (helper := own.get((module.path, name))) is None:
            continue
        said = returned(call, project) if _is_plain(helper, call) else None
        if said is not None and _is_in_own_statement(module, call):
            if _means_the_same(module, helper, call):
                yield InlinedCall(module, helper, call, said)


def _is_plain(helper: ast.FunctionDef, call: ast.Call) -> bool:
    """Return True if a call passes every parameter of the function by position."""
    given = helper.args
    rest = given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs
    return not rest and not helper.decorator_list and len(call.args) == len(given.args)


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names


def _is_in_own_statement(module: Module, call: ast.Call) -> bool:
    """Return True if a call is in a statement that shares its lines with no other and sees the
    names of a function or of the module.
    """
    inner = next(p for p in module.ancestors(call) if isinstance(p, (*_SCOPES, ast.Module)))
    line = call.lineno
    sharing = [
        s
        for s in module.each(ast.stmt)
        if s.lineno <= line <= (s.end_lineno or line) and not hasattr(s, "body")
    ]
    return len(sharing) == 1 and not isinstance(inner, ast.Lambda | ast.ClassDef)


def _means_the_same(module: Module, helper: ast.FunctionDef, call: ast.Call) -> bool:
    """Return True if every name of the helper has the same meaning at the call and nothing is
    computed more than once, or not at all.
    """
    answer = helper.body[-1]
    nodes = walk(answer)
    if any(isinstance(node, _OWN) for node in nodes):
        return False
    given = dict(zip(positional(helper), call.args, strict=True))
    read = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    bound = {n for c in nodes if isinstance(c, ast.comprehension) for n in target_names(c.target)}
    argument_names = {n.id for a in call.args for n in nodes_of(a, ast.Name)}
    if bound & (argument_names | given.keys()):
        return False
    if any(not isinstance(a, _SIMPLE) and read.count(name) != 1 for name, a in given.items()):
        return False
    outer = set(read) - given.keys() - bound
    around = (s for s in module.ancestors(call) if isinstance(s, (*FUNCTIONS, *_COMPREHENSIONS)))
    return not any(outer & _bound(scope) for scope in around)


def _bound(function: ast.AST) -> set[str]:
    """Return the local names of a function."""
    return {
        name
        for node in walk(function)
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        for name in _names(node)
        if node is not function
    }
