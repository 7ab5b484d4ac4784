"""Functions of the script's own whose `backward` hands None to an input that is to learn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import GraphCarrier, Proposal
from analyzers.explain.source_locations import SourceLocation, returns_of
from analyzers.repair.blocks import alias, indentation, joined, text_with
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import definitions, names_bound, part_for
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.signatures import named
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk
from provenance import CodeLine

DEPTH = 6  # of values that the result is computed from by way of names
LONG = 400  # characters: of more, an expression is none that a reader would want


@dataclass(frozen=True)
class Withheld:
    """An input of a Function that gets None; `index` counts from the first after the context."""

    module: Module
    forward: ast.FunctionDef
    backward: ast.FunctionDef
    index: int

    @property
    def inputs(self) -> list[str]:
        """Return the parameter names of `forward` after the context."""
        return [argument.arg for argument in self.forward.args.args[1:]]

    @property
    def input(self) -> str:
        """Return the name of this input in `forward`."""
        return self.inputs[self.index]

    @property
    def returned(self) -> ast.Return:
        """Return the statement by which `backward` returns its gradients."""
        return returns_of(self.backward)[0]

    @property
    def place(self) -> CodeLine:
        """Return the line to look at."""
        return CodeLine(self.module.path, self.returned.lineno, self.backward.name)

    @property
    def carrier(self) -> GraphCarrier:
        """Return the input as a carrier, by its name in `forward`."""
        return GraphCarrier(self.input, self.place)


def withheld(
    where: SourceLocation, is_source: Callable[[ast.expr], bool], project: Project
) -> Withheld | None:
    """Return the first input whose gradient is None whatever the loss is, or None.

    Only Functions are considered that the statement applies to an expression that `is_source`
    accepts.
    """
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
    """Return the methods of the Function that is called as `F.apply(…)`, or by a name for that."""
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
    """Return True if every `return` of `backward` gives the input None."""
    parts = [_part(statement, found.index) for statement in returns_of(found.backward)]
    return bool(parts) and all(part and _stays_none(part, found.backward) for part in parts)


def _part(statement: ast.Return, index: int) -> ast.expr | None:
    match statement.value:
        case ast.Tuple(elts=parts):
            plain = not any(isinstance(part, ast.Starred) for part in parts)
            return parts[index] if plain and index < len(parts) else None
    return statement.value if index == 0 else None


def _stays_none(part: ast.expr, scope: ast.FunctionDef) -> bool:
    values: list[ast.expr | None] = [part]
    if isinstance(part, ast.Name):
        values = [part_for(made, part.id.__eq__) for made in definitions(scope, part.id)]
    return bool(values) and all(isinstance(v, ast.Constant) and v.value is None for v in values)


def handed_on(found: Withheld, rank: int = 0) -> Iterator[Proposal]:
    """Propose to compute the missing gradient by autograd, from the expression in `forward`."""
    editor, backward = Editor(found.module), found.backward
    result, part = returns_of(found.forward), _part(found.returned, found.index)
    single = len(result) == len(returns_of(backward)) == 1 and len(backward.args.args) == 2
    if not single or result[0].value is None or part is None:
        return
    saved = _BackwardInputs(found)
    formula = _formula(result[0].value, saved)
    edits = saved.kept() if formula is not None else None
    if formula is None or edits is None:
        return
    name = part.id if isinstance(part, ast.Name) else f"to_{found.input}"
    lines = _lines(found, name, formula, saved.names.get(found.input, found.input))
    edits.append(editor.insert_before(found.returned, *lines))
    if not isinstance(part, ast.Name):
        edits.append(editor.replace(part, name))
    title = f"Hand `{found.input}` the gradient of what `forward` computes"
    yield Proposal("hand-on-gradient", title, joined(edits), "", rank)


def _lines(found: Withheld, name: str, formula: str, value: str) -> list[str]:
    """Return the lines that compute the gradient, under `needs_input_grad` if the others are."""
    torch, backward = alias(found.module, "torch"), found.backward
    context, given = (argument.arg for argument in backward.args.args)
    lines = [
        f"_, pullback = {torch}.func.vjp(lambda {found.input}: {formula}, {value})",
        f"({name},) = pullback({given})",
    ]
    if not attributes_loaded(walk(backward), "needs_input_grad"):
        return lines
    step = indentation(found.module)
    head = f"if {context}.needs_input_grad[{found.index}]:"
    return [head, *(f"{step}{line}" for line in lines)]


def _formula(value: ast.expr, saved: _BackwardInputs, depth: int = DEPTH) -> str | None:
    """Return the value's expression as `backward` can write it, or None.

    Inputs are written by the names that `backward` has for them, which marks them as needed; names
    that `forward` binds once are replaced by their values.
    """
    found, edits = saved.found, list[Edit]()
    for node in walk(value):
        made = definitions(found.forward, node.id) if isinstance(node, ast.Name) else []
        if isinstance(node, ast.Name) and made:
            inner = _value_of(node, made, saved, depth)
            if inner is None:
                return None
            edits.append(saved.editor.replace(node, inner))
        elif isinstance(node, ast.Name) and node.id in found.inputs:
            saved.needs.add(node.id)
            if node.id != found.input:
                edits.append(saved.editor.replace(node, saved.names.get(node.id, node.id)))
    text = text_with(saved.editor, value, edits)
    return text if len(text) <= LONG else None


def _value_of(
    name: ast.Name, made: list[ast.stmt], saved: _BackwardInputs, depth: int
) -> str | None:
    """Return the source of the value that `forward` binds to a name, or None."""
    once = len(made) == 1 and isinstance(made[0], ast.Assign) and depth
    part = part_for(made[0], name.id.__eq__) if once else None
    inner = _formula(part, saved, depth - 1) if part is not None else None
    if inner is None or part is None or not needs_parentheses(part):
        return inner
    around = saved.found.module.parents[name]
    alone = isinstance(around, ast.Return) or (isinstance(around, ast.Call) and name in around.args)
    return inner if alone else f"({inner})"


class _BackwardInputs:
    """By which names `backward` has the inputs of `forward`, and which it needs."""

    def __init__(self, found: Withheld) -> None:
        self.editor, self.found, self.needs = Editor(found.module), found, {found.input}
        self._contexts = [f.args.args[0].arg for f in (found.forward, found.backward)]
        self._saving = next(iter(calls_of(found.forward, "torch.Tensor.save_for_backward")), None)
        self._taken = next((t for n in walk(found.backward) if (t := _taking(n))), None)
        self.names = dict(self._kept_already())

    def _kept_already(self) -> Iterator[tuple[str, str]]:
        if self._saving is not None and self._taken is not None:
            for argument, variable in zip(self._saving.args, self._taken.elts, strict=False):
                yield spelled(argument), spelled(variable)
        own, other = self._contexts
        for node in walk(self.found.forward):
            for target, value in assigned_pairs(node):
                holder, _, name = spelled(target).rpartition(".")
                if holder == own and isinstance(value, ast.Name):
                    yield value.id, f"{other}.{name}"

    def kept(self) -> list[Edit] | None:
        """Return edits that save the inputs that are not saved yet and unpack them in
        `backward`."""
        found, editor, missing = self.found, self.editor, sorted(self.needs - self.names.keys())
        if not missing:
            return []
        if {*missing} & (named(found.backward) | names_bound(found.backward)):
            return None
        text, (own, other) = ", ".join(missing), self._contexts
        if self._saving is None:
            unpacked = f"{text}," if len(missing) == 1 else text
            saving, taking = (
                f"{own}.save_for_backward({text})",
                f"{unpacked} = {other}.saved_tensors",
            )
            first, returned = found.backward.body[0], returns_of(found.forward)[0]
            return [editor.insert_before(returned, saving), editor.insert_before(first, taking)]
        if not self._saving.args or self._taken is None:
            return None
        ends = [editor.span(node)[1] for node in (self._saving.args[-1], self._taken.elts[-1])]
        return [Edit(found.module.path, end, end, f", {text}") for end in ends]


def _taking(node: ast.AST) -> ast.Tuple | None:
    """Return the target tuple of `a, b = ctx.saved_tensors`, or None."""
    match node:
        case ast.Assign(targets=[ast.Tuple() as taken], value=ast.Attribute(attr="saved_tensors")):
            return taken
    return None
