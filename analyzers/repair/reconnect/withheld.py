"""Functions of the script's own whose `backward` hands None to an input that is to learn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from analyzers.evidence import Place
from analyzers.explain.pattern import Carrier, Proposal
from analyzers.explain.spots import Spot, returns_of
from analyzers.repair.blocks import alias, indentation, joined, text_with
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import called_name, definitions, part_for
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import walk

DEPTH = 6  # of values that the result is computed from by way of names
LONG = 400  # characters: of more, an expression is none that a reader would want


@dataclass(frozen=True)
class Withheld:
    """The input at `index`, behind the context, of a Function: it gets None."""

    module: Module
    forward: ast.FunctionDef
    backward: ast.FunctionDef
    index: int

    @property
    def inputs(self) -> list[str]:
        """What `forward` calls its inputs, behind the context."""
        return [argument.arg for argument in self.forward.args.args[1:]]

    @property
    def input(self) -> str:
        """What it calls this one."""
        return self.inputs[self.index]

    @property
    def returned(self) -> ast.Return:
        """Where `backward` hands its gradients on."""
        return returns_of(self.backward)[0]

    @property
    def place(self) -> Place:
        """The line to look at."""
        return Place(self.module.path, self.returned.lineno, self.backward.name)

    @property
    def carrier(self) -> Carrier:
        """The input, by its name in `forward`."""
        return Carrier(self.input, self.place)


def withheld(
    where: Spot, is_source: Callable[[ast.expr], bool], project: Project
) -> Withheld | None:
    """The first input of a Function which the statement applies to such a source, and which gets
    None whatever the loss is."""
    for call in walk(where.statement):
        methods = _applied(call, where.module, project) if isinstance(call, ast.Call) else None
        if methods is None or not isinstance(call, ast.Call):
            continue
        for index, argument in enumerate(call.args[: len(methods[1].args.args) - 1]):
            found = Withheld(*methods, index)
            if isinstance(argument, ast.Starred):
                break
            if is_source(argument) and _is_none(found):
                return found
    return None


def _applied(
    call: ast.Call, module: Module, project: Project
) -> tuple[Module, ast.FunctionDef, ast.FunctionDef] | None:
    """The methods of the Function that is called as `F.apply(…)`, or by a name for that."""
    func: ast.expr | None = call.func
    if isinstance(func, ast.Name):
        made = definitions(module.tree, func.id)
        func = part_for(made[0], lambda name: name == spelled(call.func)) if made else None
    if not isinstance(func, ast.Attribute) or func.attr != "apply":
        return None
    name = spelled(func.value).rpartition(".")[2]
    for owner in project.modules.values():
        forward = owner.function_named(f"{name}.forward")
        backward = owner.function_named(f"{name}.backward")
        if owner.function_named(f"{name}.setup_context") is not None:
            continue
        if isinstance(forward, ast.FunctionDef) and isinstance(backward, ast.FunctionDef):
            return owner, forward, backward
    return None


def _is_none(found: Withheld) -> bool:
    """Whether every way through `backward` hands the input None."""
    returns = returns_of(found.backward)
    parts = [_part(statement, found.index) for statement in returns]
    return bool(parts) and all(
        part is not None and _stays_none(part, found.backward) for part in parts
    )


def _part(statement: ast.Return, index: int) -> ast.expr | None:
    match statement.value:
        case ast.Tuple(elts=parts):
            plain = not any(isinstance(part, ast.Starred) for part in parts)
            return parts[index] if plain and index < len(parts) else None
    return statement.value if index == 0 else None


def _stays_none(part: ast.expr, scope: ast.FunctionDef) -> bool:
    if isinstance(part, ast.Name):
        made = definitions(scope, part.id)
        values = [part_for(statement, lambda name: name == part.id) for statement in made]
        return bool(values) and all(_says_none(value) for value in values)
    return _says_none(part)


def _says_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def handed_on(found: Withheld, rank: int = 0) -> Iterator[Proposal]:
    """The missing gradient computed by autograd, from what `forward` computes."""
    editor, backward = Editor(found.module), found.backward
    result, part = returns_of(found.forward), _part(found.returned, found.index)
    single = len(result) == len(returns_of(backward)) == 1 and len(backward.args.args) == 2
    if not single or result[0].value is None or part is None:
        return
    saved = _Saved(found)
    formula = _formula(result[0].value, saved)
    edits = saved.kept(formula.needs) if formula is not None else None
    if formula is None or edits is None:
        return
    name = part.id if isinstance(part, ast.Name) else f"to_{found.input}"
    lines = _lines(found, name, formula.text, saved.called(found.input))
    edits.append(editor.insert_before(found.returned, *lines))
    if not isinstance(part, ast.Name):
        edits.append(editor.replace(part, name))
    title = f"Hand `{found.input}` the gradient of what `forward` computes"
    yield Proposal("hand-on-gradient", title, joined(edits), "", rank)


def _lines(found: Withheld, name: str, formula: str, value: str) -> list[str]:
    """Statements that compute the gradient; where it is asked for, if the others are so, too."""
    torch, backward = alias(found.module, "torch"), found.backward
    context, given = (argument.arg for argument in backward.args.args)
    lines = [
        f"_, pullback = {torch}.func.vjp(lambda {found.input}: {formula}, {value})",
        f"({name},) = pullback({given})",
    ]
    if not any(getattr(node, "attr", "") == "needs_input_grad" for node in walk(backward)):
        return lines
    step = indentation(found.module)
    head = f"if {context}.needs_input_grad[{found.index}]:"
    return [head, *(f"{step}{line}" for line in lines)]


class _Formula(NamedTuple):
    """What `forward` returns, in one expression, and the inputs that it reads."""

    text: str
    needs: frozenset[str]


def _formula(value: ast.expr, saved: _Saved, depth: int = DEPTH) -> _Formula | None:
    """The value as `backward` writes it: inputs as they are called there, and names that `forward`
    binds once replaced by what they stand for."""
    needs, edits = set[str](), list[Edit]()
    if len(saved.editor.text_of(value)) > LONG:
        return None
    for node in walk(value):
        if not isinstance(node, ast.Name):
            continue
        if node.id in saved.found.inputs and not definitions(saved.found.forward, node.id):
            needs.add(node.id)
            if node.id != saved.found.input:
                edits.append(saved.editor.replace(node, saved.called(node.id)))
        elif definitions(saved.found.forward, node.id):
            inner = _stands_for(node, saved, depth)
            if inner is None:
                return None
            needs |= inner.needs
            edits.append(saved.editor.replace(node, inner.text))
    text = text_with(saved.editor, value, edits)
    return _Formula(text, frozenset(needs)) if len(text) <= LONG else None


def _stands_for(name: ast.Name, saved: _Saved, depth: int) -> _Formula | None:
    """What `forward` has bound to a name, as it can be written in its place."""
    made = definitions(saved.found.forward, name.id)
    if len(made) != 1 or not isinstance(made[0], ast.Assign) or not depth:
        return None
    part = part_for(made[0], name.id.__eq__)
    inner = _formula(part, saved, depth - 1) if part is not None else None
    if inner is None or part is None or not needs_parentheses(part):
        return inner
    around = saved.found.module.parents[name]
    alone = isinstance(around, ast.Return) or (isinstance(around, ast.Call) and name in around.args)
    return inner if alone else _Formula(f"({inner.text})", inner.needs)


class _Saved:
    """By which names `backward` has the inputs of `forward`."""

    def __init__(self, found: Withheld) -> None:
        self.editor = Editor(found.module)
        self.found = found
        calls = [n for n in walk(found.forward) if isinstance(n, ast.Call)]
        self._saving = next((c for c in calls if called_name(c) == "save_for_backward"), None)
        self._taking = next(filter(self._takes, walk(found.backward)), None)
        self._names = dict(self._kept_already())

    @staticmethod
    def _takes(node: ast.AST) -> bool:
        """`a, b = ctx.saved_tensors`."""
        return (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "saved_tensors"
        )

    def _kept_already(self) -> Iterator[tuple[str, str]]:
        if self._saving is not None and isinstance(self._taking, ast.Assign):
            target = self._taking.targets[0]
            taken = target.elts if isinstance(target, ast.Tuple) else []
            for argument, variable in zip(self._saving.args, taken, strict=False):
                yield spelled(argument), spelled(variable)
        own, other = (f.args.args[0].arg for f in (self.found.forward, self.found.backward))
        for node in walk(self.found.forward):
            match node:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id=holder), attr=name)],
                    value=ast.Name(id=given),
                ) if holder == own:
                    yield given, f"{other}.{name}"

    def called(self, name: str) -> str:
        """The input in `backward`."""
        return self._names.get(name, name)

    def kept(self, needs: frozenset[str]) -> list[Edit] | None:
        """What saves those that are not, and takes them out again."""
        missing = sorted((needs | {self.found.input}) - self._names.keys())
        bound = {a.arg for a in self.found.backward.args.args}
        if not missing:
            return []
        if any(definitions(self.found.backward, name) or name in bound for name in missing):
            return None
        text = ", ".join(missing)
        own, other = (f.args.args[0].arg for f in (self.found.forward, self.found.backward))
        if self._saving is None:
            first, returned = self.found.backward.body[0], returns_of(self.found.forward)[0]
            unpacked = f"{text}," if len(missing) == 1 else text
            return [
                self.editor.insert_before(returned, f"{own}.save_for_backward({text})"),
                self.editor.insert_before(first, f"{unpacked} = {other}.saved_tensors"),
            ]
        if not self._saving.args or not isinstance(self._taking, ast.Assign):
            return None
        target = self._taking.targets[0]
        assert isinstance(target, ast.Tuple)
        ends = (self._saving.args[-1], target.elts[-1])
        return [
            Edit(self.found.module.path, end, end, f", {text}")
            for node in ends
            for end in [self.editor.span(node)[1]]
        ]
