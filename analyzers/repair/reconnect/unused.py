"""Fix gradients of tensors that the loss does not depend on: it uses their inputs instead, or takes
them as an argument and ignores it; or None, or zeros, were intended.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location, root_of
from analyzers.repair.blocks import joined
from analyzers.repair.reconnect.cutting_expressions import cuts_in
from analyzers.repair.reconnect.gradient_paths import functions_called
from analyzers.repair.reconnect.uncutting import without_cut
from analyzers.repair.rewrite import with_keyword
from analyzers.source.backward import backward_root
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    definitions,
    first_use,
    mentions,
    names_read,
    statements_of,
    value_of,
)
from analyzers.source.project import Module, Project, spelled
from analyzers.source.signatures import parameters
from analyzers.source.statement_ranges import statements_after
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, position, walk
from provenance import CodeLine

MAX_SOURCES = 2
_UNNOTICED = "A tensor that should have been used, and is not, goes unnoticed."


@dataclass(frozen=True)
class Question:
    """A call of `autograd.grad`: the tensor whose gradient is wanted, and the statement that
    computes the outputs.
    """

    where: SourceLocation
    wanted: str
    outputs: ast.stmt


def question_of(evidence: MissingGraph, project: Project) -> Question | None:
    """Return the call; None if the source does not show how the outputs are computed."""
    where, names = resolve_location(project, evidence.at), names_held(evidence.holders)
    call = where.call("torch.autograd.grad") if where is not None else None
    outputs = backward_root(call) if call is not None else None
    if where is None or outputs is None or not names:
        return None
    begun = position(where.statement)
    for name in sorted(names_read(outputs)):
        made = [s for s in definitions(where.scope, name) if position(s) < begun]
        if made:
            return Question(where, root_of(names[0]), made[-1])
    return None


def is_derivative(question: Question) -> bool:
    """Return True if the differentiated value is itself a gradient, which may be constant."""
    value = value_of(question.outputs)
    return value is not None and bool(calls_of(value, "torch.autograd.grad"))


def used_instead(question: Question, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal that uses the wanted tensor where the outputs are computed from its own
    inputs.
    """
    value = value_of(question.outputs)
    made = definitions(question.where.scope, question.wanted)
    late = bool(made) and position(made[0]) >= position(question.outputs)
    if value is None or late or question.wanted in names_read(value):
        return
    used = {
        source: [n for n in nodes_of(value, ast.expr) if spelled(n) == source]
        for source in map(spelled, _sources(question))
    }
    for source, nodes in [pair for pair in used.items() if pair[1]][:MAX_SOURCES]:
        edits = tuple(question.where.editor.replace(node, question.wanted) for node in nodes)
        title = f"Use `{question.wanted}` where `{source}` is used"
        yield Proposal("use-wanted", title, edits, "", rank)
        rank += 1


def rebind_after(question: Question) -> Iterator[Proposal]:
    """Propose that the name keeps the tensor that the outputs derive from until the gradient is
    taken.

    A statement that rebinds it in between moves after that, or is removed if its value is never
    read.
    """
    where, name = question.where, question.wanted
    ahead = where.block[: where.block.index(where.statement)]
    binding = [s for s in ahead if name in bindings(s)]
    used = [s for s in ahead if binding and name in names_read(s)]
    if not any(s is not binding[-1] and position(s) < position(binding[-1]) for s in used):
        return
    editor, late = where.editor, binding[-1]
    edits = [editor.delete(late)]
    title = f"Leave `{name}` what it was until its gradient is taken"
    if first_use(statements_after(where.module, where.statement), name) != "bound":
        edits.append(editor.insert_after(where.statement, *editor.lines_of(late)))
    yield Proposal("bind-later", title, joined(edits))


def asked_of_itself(question: Question) -> Iterator[Proposal]:
    """Yield a proposal that asks for the wanted tensor's gradient instead of an unused copy's."""
    editor = question.where.editor
    for statement in definitions(question.where.scope, question.wanted):
        match value_of(statement):
            case ast.Call(func=ast.Attribute(value=source)) as copy if is_call(
                copy, "torch.Tensor.clone"
            ):
                use_title = f"Ask for the gradient of `{spelled(source)}`, not of a copy"
                edit = editor.replace(copy, editor.text_of(source))
                yield Proposal("use-wanted", use_title, (edit,))


def _sources(question: Question) -> list[ast.expr]:
    """Return what the wanted tensor is computed from, largest expressions first."""
    found: list[ast.expr] = []
    for statement in definitions(question.where.scope, question.wanted):
        value = value_of(statement)
        for node in walk(value) if value is not None else ():
            if isinstance(node, ast.Name | ast.Attribute | ast.Tuple | ast.List | ast.Subscript):
                if isinstance(node.ctx, ast.Load) and not _is_called(question.where.module, node):
                    found.append(node)
    return sorted(found, key=lambda node: -len(spelled(node)))


def _is_called(module: Module, node: ast.expr) -> bool:
    parent = module.parents.get(node)
    while isinstance(parent, ast.Attribute):
        node, parent = parent, module.parents.get(parent)
    return isinstance(parent, ast.Call) and parent.func is node


def reached_without_cut(question: Question, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that removes the cut by which the forward starts from a copy: on the line
    that computes the outputs, or in the function that receives the wanted tensor.
    """
    places = [
        (
            SourceLocation(question.where.module, question.outputs, question.where.place),
            question.wanted,
        )
    ]
    places += [
        (SourceLocation.of(given.module, s), given.parameter)
        for given in _given(question, project)
        for s in statements_of(given.function)
        if isinstance(s, ast.Assign | ast.Return | ast.Expr)
    ]
    for where, name in places:
        if any(mentions(cut, name) for cut in cuts_in(where.statement)):
            yield from without_cut(where)


@dataclass(frozen=True)
class Given:
    """A function, and its parameter that takes the wanted tensor."""

    module: Module
    function: ast.FunctionDef
    parameter: str

    @property
    def place(self) -> CodeLine:
        """Return where the function begins."""
        return CodeLine(self.module.path, self.function.lineno, self.function.name)


def unread_by(question: Question, project: Project) -> Given | None:
    """Return the function that receives the wanted tensor and ignores it."""
    for given in _given(question, project):
        if not any(mentions(statement, given.parameter) for statement in given.function.body):
            return given
    return None


def _given(question: Question, project: Project) -> Iterator[Given]:
    """Yield the functions that may receive the wanted tensor when the outputs are computed."""
    for call in walk(question.outputs):
        args = call.args if isinstance(call, ast.Call) else []
        at = [n for n, argument in enumerate(args) if question.wanted in names_read(argument)]
        if isinstance(call, ast.Call) and at:
            for module, function in functions_called(call, project):
                names = parameters(function)
                if len(names) == len(args):
                    yield Given(module, function, names[at[0]])


def made_if_missing(question: Question, project: Project) -> Iterator[Proposal]:
    """Propose `if vectors is None:` for `if ids is not None:` around what rebinds the parameter.

    The original rebinds it whether it was passed or not.
    """
    for given in _given(question, project):
        for statement in given.function.body:
            match statement:
                case ast.If(
                    test=ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]),
                    body=[ast.Assign(value=made) as making],
                    orelse=[],
                ) if bindings(making) == [given.parameter]:
                    if not mentions(made, given.parameter):
                        text = f"{given.parameter} is None"
                        edit = Editor(given.module).replace(statement.test, text)
                        title = f"Make `{given.parameter}` in `{given.function.name}` only where "
                        yield Proposal("read-argument", title + "it is not given", (edit,))


def read_it(unread: Given) -> Iterator[Proposal]:
    """Yield a proposal that reads the ignored argument instead of another one that is listed twice
    in a row.
    """
    for node in walk(unread.function):
        if not isinstance(node, ast.List | ast.Tuple) or not isinstance(node.ctx, ast.Load):
            continue
        for before, after in zip(node.elts, node.elts[1:], strict=False):
            if isinstance(after, ast.Name) and spelled(before) == after.id:
                edit = Editor(unread.module).replace(after, unread.parameter)
                title = f"Read `{unread.parameter}` in `{unread.function.name}`"
                yield Proposal("read-argument", title, (edit,))


def zeros_for_unused(
    where: SourceLocation, evidence: MissingGraph, question: Question | None
) -> Iterator[Proposal]:
    """Yield a proposal with zeros for gradients that do not exist. Not for a plain input: that the
    forward ignores it is the fault, unless a gradient itself is differentiated, which may be
    constant.
    """
    call = where.call("torch.autograd.grad")
    inputs = all(holder.kind in ("local", "global") for holder in evidence.holders)
    if call is None or (inputs and not (question is not None and is_derivative(question))):
        return
    edit = with_keyword(where.editor, call, "materialize_grads")
    title = "Ask for zeros where there is no gradient"
    yield Proposal("materialize-grads", title, (edit,), _UNNOTICED, 2)


def none_for_unused(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal with None for gradients that do not exist, if a loop assigns them to
    `.grad`: a backward call would leave None, and an optimizer's step skips None but not zeros.
    """
    call, given = where.call("torch.autograd.grad"), set(bindings(where.statement))
    edits = [
        edit
        for loop in statements_of(where.scope)
        if isinstance(loop, ast.For) and given & names_read(loop.iter)
        for edit in _handing_none(where.editor, loop)
    ]
    if call is not None and edits:
        edits.append(with_keyword(where.editor, call, "allow_unused"))
        title = "Leave parameters without a gradient as they are"
        yield Proposal("allow-unused", title, joined(edits), _UNNOTICED, 1)


def _handing_none(editor: Editor, loop: ast.For) -> Iterator[Edit]:
    """Yield edits by which the loop's assignments to `.grad` pass on None."""
    for node in walk(loop):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="grad")], value=value):
                parts = names_read(value) & set(target_names(loop.target)) - names_read(owner)
                if len(parts) == 1:
                    text = f"None if {parts.pop()} is None else {editor.text_of(value)}"
                    yield editor.replace(value, text)
