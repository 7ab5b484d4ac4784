"""Fix an operation of a hand-written engine that gives its inputs wrong gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import joined
from analyzers.repair.engine.derivatives import derivative, factor, of_matrix_product, product
from analyzers.source.edits import Editor
from analyzers.source.flow import names_read, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk

WRONG = "wrong-gradients"
"""The kind of silent fault: an engine's gradients are not the numerical ones."""
OVERWRITTEN, DERIVATIVE, SEED, ORDER = "overwritten", "derivative", "seed", "order"
LAYER = "layer"  # the derivative of a layer that is no operation of a graph
Written = ast.Assign | ast.AugAssign


@dataclass(frozen=True, slots=True)
class EngineOperation:
    """The function of an engine in which a fault was seen, whose gradients lie in `gradient`."""

    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef
    gradient: str

    @classmethod
    def of(cls, fault: SilentFault, project: Project) -> EngineOperation | None:
        """Return the function of a fault; None if the source does not show it."""
        module = project.module(fault.at.file) if fault.at is not None else None
        if module is None or fault.at is None or fault.kind != WRONG:
            return None
        for scope in module.scopes:
            if not isinstance(scope, ast.Module):
                first = min([scope.lineno, *(one.lineno for one in scope.decorator_list)])
                if first == fault.at.line:
                    return cls(module, scope, fault.gradient)
        return None

    @property
    def root(self) -> str:
        """Return the name of its first argument: of a backward, the value that it starts from."""
        return next((one.arg for one in self.function.args.args), "")

    def contributions(self, owner: str = "") -> Iterator[tuple[ast.expr, Written]]:
        """Yield what its backward writes to gradients (of `owner`), target and statement."""
        for inner in walk(self.function):
            if isinstance(inner, FUNCTIONS) and inner is not self.function:
                for node in walk_scope(inner):
                    yield from self._written(node, owner)

    def _written(self, node: ast.AST, owner: str) -> Iterator[tuple[ast.expr, Written]]:
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            match targets:
                case [ast.Attribute(value=ast.Name(id=name), attr=attribute) as target]:
                    if attribute == self.gradient and owner in ("", name):
                        yield target, node

    @property
    def result(self) -> tuple[str, ast.expr] | None:
        """Return what the function calls the instance that it makes, and what it computes for it:
        `out` and `t` of `out = Value(t, (self,))`."""
        returned = {ast.unparse(r.value) for r in nodes_of(self.function, ast.Return) if r.value}
        for node in walk_scope(self.function):
            for target, value in assigned_pairs(node):
                if ast.unparse(target) in returned and isinstance(value, ast.Call) and value.args:
                    return ast.unparse(target), value.args[0]
        return None

    def means(self, part: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Return what a part is bound to, and the shortest expression that has its value."""
        for node in walk_scope(self.function):
            for target, value in assigned_pairs(node):
                if isinstance(target, ast.Name) and target.id != self._instance:
                    if ast.unparse(part) in (target.id, ast.unparse(value)):
                        return value, target
        return part, part

    @property
    def _instance(self) -> str:
        return self.result[0] if self.result is not None else ""


def add_to_gradients(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal by which every operation of the class adds to the gradients of its inputs,
    in place of replacing them."""
    operation = operation_of(evidence, OVERWRITTEN, project)
    if operation is None:
        return
    owner = operation.module.class_of(operation.function) or operation.module.tree
    edits, editor = [], Editor(operation.module)
    for function in walk(owner):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            one = EngineOperation(operation.module, function, operation.gradient)
            for target, node in one.contributions():
                if isinstance(node, ast.Assign) and _passes_on(node.value, operation.gradient):
                    text = f"{editor.text_of(target)} += {editor.text_of(node.value)}"
                    edits.append(editor.replace(node, text))
    if edits:
        title = f"Add to `{operation.gradient}` in place of replacing it"
        yield Proposal("add-gradients", title, joined(dict.fromkeys(edits)), whole=True)


def _passes_on(value: ast.expr, gradient: str) -> bool:
    """Return True if an expression reads another instance's gradient."""
    return any(name.endswith(f".{gradient}") for name in names_read(value))


def times_the_result(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that multiplies derivatives by the gradient of the result, where the
    backward does not read it."""
    operation = operation_of(evidence, DERIVATIVE, project)
    result = operation.result if operation is not None else None
    if operation is None or result is None:
        return
    editor, given = Editor(operation.module), f"{result[0]}.{operation.gradient}"
    edits = [
        editor.replace(node, f"{editor.text_of(target)} {by} {factor(node.value, text)} * {given}")
        for target, node in operation.contributions()
        for by in ["+=" if isinstance(node, ast.AugAssign) else "="]
        for text in [editor.text_of(node.value)]
        if not _passes_on(node.value, operation.gradient)
    ]
    if edits:
        title = f"Multiply the derivative by `{given}`"
        yield Proposal("times-result", title, joined(edits), whole=True)


def as_derived(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with the derivative of what the operation computes, by the input whose
    gradient is wrong; where the backward gives that input nothing, it is added. Another changes the
    sign of what it gives."""
    operation = operation_of(evidence, DERIVATIVE, project)
    result = operation.result if operation is not None else None
    if not isinstance(evidence, SilentFault) or operation is None or result is None:
        return
    name, function, editor = evidence.input, operation.function.name, Editor(operation.module)
    written, own = [*operation.contributions()], [*operation.contributions(name)]
    derived = filter(None, (_derived(operation, path) for path in _values(operation, name)))
    if (text := next(derived, None)) is not None:
        title = f"Give `{name}` the derivative of what `{function}` computes"
        by = "-=" if text.startswith("-") else "+="
        line = f"{name}.{operation.gradient} {by} {text.removeprefix('-')}"
        if len(own) == 1:
            edit = editor.replace(own[0][1], line)
            yield Proposal("as-derived", title, (edit,), "", 1)
        elif not own and written:
            yield Proposal("as-derived", title, (editor.insert_after(written[-1][1], line),), "", 1)
    match own:
        case [(target, ast.AugAssign(op=ast.Add() | ast.Sub() as op) as node)] if (
            text is None or nodes_of(node.value, ast.Call)  # a helper, of shapes
        ):
            by = "-=" if isinstance(op, ast.Add) else "+="
            edit = editor.replace(
                node, f"{editor.text_of(target)} {by} {editor.text_of(node.value)}"
            )
            title = f"Change the sign of what `{function}` gives `{name}`"
            yield Proposal("change-sign", title, (edit,), "", 2)


def _values(operation: EngineOperation, name: str) -> Iterator[str]:
    """Yield the attributes of an input that the operation computes with: `self.data`."""
    result = operation.result
    read = sorted(names_read(operation.function)) if result is not None else []
    own = f"{operation.gradient}"
    yield from (path for path in read if path.startswith(f"{name}.") and path != f"{name}.{own}")


def _derived(operation: EngineOperation, variable: str) -> str | None:
    """Return what an operation has to add: the derivative of what it computes, times the gradient
    of the result."""
    result = operation.result
    assert result is not None
    given = f"{result[0]}.{operation.gradient}"
    if text := of_matrix_product(operation.means(result[1])[0], variable, given):
        return text
    value = ast.parse(f"{result[0]}.{variable.rpartition('.')[2]}", mode="eval").body

    def meant(part: ast.expr) -> tuple[ast.expr, ast.expr]:
        whole, name = operation.means(part)
        return whole, value if name is result[1] else name

    found = derivative(result[1], variable, meant)
    return product(found, given) if found is not None else None


def set_the_seed(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that sets the gradient of what the backward starts from, before its loop."""
    operation = operation_of(evidence, SEED, project)
    if operation is None or not operation.root:
        return
    loops = [one for one in operation.function.body if isinstance(one, ast.For | ast.While)]
    path = f"{operation.root}.{operation.gradient}"
    if loops:
        edit = Editor(operation.module).insert_before(loops[-1], f"{path} = 1.0")
        yield Proposal("set-seed", f"Set `{path}` before the loop", (edit,))


def operation_of(evidence: Evidence, detail: str, project: Project) -> EngineOperation | None:
    """Return the function of a wrong gradient of this kind; None if the source does not show it."""
    if not isinstance(evidence, SilentFault) or evidence.detail != detail:
        return None
    return EngineOperation.of(evidence, project)
