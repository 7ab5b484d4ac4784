"""Tensors that were made to be differentiated by, and that the forward never uses: it uses what
they were made from, or takes them as an argument and does not read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import MissingGraph, Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, names_held, root_of, spot
from analyzers.repair.reconnect.cutting_expressions import cuts_in
from analyzers.repair.reconnect.uncutting import without_cut
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    called_name,
    definitions,
    mentions,
    names_read,
    value_of,
    walk_scope,
    walked,
)
from analyzers.source.project import Module, Project, spelled
from analyzers.source.signatures import parameters
from analyzers.source.trees import position, walk

MAX_SOURCES = 2


@dataclass(frozen=True)
class Question:
    """A call of `autograd.grad`: whose gradient is wanted, and the statement that makes what is
    differentiated."""

    where: Spot
    wanted: str
    outputs: ast.stmt


def question_of(evidence: MissingGraph, project: Project) -> Question | None:
    """None where the source does not show how the outputs come about."""
    where, names = spot(project, evidence.at), names_held(evidence.holders)
    call = where.call("grad") if where is not None else None
    outputs = walked(call) if call is not None else None
    if where is None or outputs is None or not names:
        return None
    begun = position(where.statement)
    for name in sorted(names_read(outputs)):
        made = [s for s in definitions(where.scope, name) if position(s) < begun]
        if made:
            return Question(where, root_of(names[0]), made[-1])
    return None


def is_derivative(question: Question) -> bool:
    """Whether what is differentiated is a gradient itself, which may well be constant."""
    value = value_of(question.outputs)
    return value is not None and bool(calls_named(value, "grad"))


def used_instead(question: Question, rank: int = 0) -> Iterator[Proposal]:
    """The wanted tensor where the outputs are made from what it was itself made from."""
    value = value_of(question.outputs)
    made = definitions(question.where.scope, question.wanted)
    late = bool(made) and position(made[0]) >= position(question.outputs)
    if value is None or late or question.wanted in names_read(value):
        return
    editor = question.where.editor
    sources = {spelled(source): source for source in _sources(question)}
    used = [source for source in sources.values() if _alike(value, source)]
    for source in used[:MAX_SOURCES]:
        edits = tuple(editor.replace(node, question.wanted) for node in _alike(value, source))
        title = f"Use `{question.wanted}` where `{spelled(source)}` is used"
        yield Proposal("use-wanted", title, edits, "", rank)
        rank += 1


def asked_of_itself(question: Question, rank: int = 0) -> Iterator[Proposal]:
    """The wanted tensor instead of a copy of it, which nothing is computed from."""
    editor = question.where.editor
    for statement in definitions(question.where.scope, question.wanted):
        match value_of(statement):
            case ast.Call(func=ast.Attribute(value=source, attr="clone")) as copy:
                told = f"Ask for the gradient of `{spelled(source)}`, not of a copy"
                edit = editor.replace(copy, editor.text_of(source))
                yield Proposal("use-wanted", told, (edit,), "", rank)


def _sources(question: Question) -> list[ast.expr]:
    """What the wanted tensor is made from, the largest expressions first."""
    found: list[ast.expr] = []
    for statement in definitions(question.where.scope, question.wanted):
        value = value_of(statement)
        for node in walk(value) if value is not None else ():
            if isinstance(node, ast.Name | ast.Attribute | ast.Tuple | ast.List | ast.Subscript):
                if isinstance(node.ctx, ast.Load) and not _is_called(question.where.module, node):
                    found.append(node)
    return sorted(found, key=lambda node: -len(spelled(node)))


def _alike(value: ast.expr, source: ast.expr) -> list[ast.expr]:
    """The parts of an expression that are spelled as the source is."""
    wanted = ast.dump(source)
    return [n for n in walk(value) if isinstance(n, ast.expr) and ast.dump(n) == wanted]


def _is_called(module: Module, node: ast.expr) -> bool:
    parent = module.parents.get(node)
    while isinstance(parent, ast.Attribute):
        node, parent = parent, module.parents.get(parent)
    return isinstance(parent, ast.Call) and parent.func is node


def reached_without_cut(question: Question, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """The cut taken away by which the forward starts from a copy: on the line that makes the
    outputs, or in the function that is given the wanted tensor."""
    own = Spot(question.where.module, question.outputs, question.where.place)
    places = [(own, question.wanted)]
    for call in walk(question.outputs):
        if isinstance(call, ast.Call):
            places += [
                (Spot(m, s, Place(m.path, s.lineno)), parameter)
                for m, function, parameter in _given(call, question.wanted, project)
                for s in walk_scope(function)
                if isinstance(s, ast.Assign | ast.Return | ast.Expr)
            ]
    for where, name in places:
        if any(mentions(cut, name) for cut in cuts_in(where.statement)):
            yield from without_cut(where, rank)


@dataclass(frozen=True)
class Unread:
    """A function that takes an argument and never reads it."""

    module: Module
    function: ast.FunctionDef
    parameter: str

    @property
    def place(self) -> Place:
        """Where the function begins."""
        return Place(self.module.path, self.function.lineno, self.function.name)


def unread_by(question: Question, project: Project) -> Unread | None:
    """The function that the wanted tensor is given to, and which does not look at it."""
    for call in walk(question.outputs):
        if isinstance(call, ast.Call):
            for module, function, parameter in _given(call, question.wanted, project):
                if not _reads(function, parameter):
                    return Unread(module, function, parameter)
    return None


def _given(
    call: ast.Call, wanted: str, project: Project
) -> Iterator[tuple[Module, ast.FunctionDef, str]]:
    """The functions that a call may run, with the parameter that takes the wanted tensor."""
    at = next((i for i, a in enumerate(call.args) if spelled(a) == wanted), None)
    if at is None:
        return
    for module, node in project.each(ast.FunctionDef):
        names = parameters(node) if node.name in (called_name(call), "forward") else []
        if len(names) == len(call.args):
            yield module, node, names[at]


def _reads(function: ast.FunctionDef, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name
        for statement in function.body
        for node in walk(statement)
    )


def read_it(unread: Unread, rank: int = 0) -> Iterator[Proposal]:
    """The unread argument in place of another one that is listed twice in a row."""
    for node in walk(unread.function):
        if not isinstance(node, ast.List | ast.Tuple) or not isinstance(node.ctx, ast.Load):
            continue
        for before, after in zip(node.elts, node.elts[1:], strict=False):
            if isinstance(after, ast.Name) and spelled(before) == after.id:
                edit: Edit = Editor(unread.module).replace(after, unread.parameter)
                title = f"Read `{unread.parameter}` in `{unread.function.name}`"
                yield Proposal("read-argument", title, (edit,), "", rank)
