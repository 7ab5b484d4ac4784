"""Give the backward of a layer that a script writes by hand the derivative of its forward."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.repair.engine.derivatives import derivative, of_matrix_product, product
from analyzers.repair.engine.operations import LAYER, operation_of
from analyzers.source.edits import Editor
from analyzers.source.flow import walk_scope
from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of


def as_forward_derived(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that returns, or stores, the derivative of what `forward` returns."""
    operation = operation_of(evidence, LAYER, project)
    owner = operation.module.class_of(operation.function) if operation is not None else None
    if operation is None or owner is None or not isinstance(evidence, SilentFault):
        return
    backward, given = operation.function, operation.function.args.args[1].arg
    forward = next((one for one in nodes_of(owner, ast.FunctionDef) if one.name == "forward"), None)
    text = _gradient(forward, evidence.input, given) if forward is not None else None
    at = written_by(backward, evidence.gradient)
    if text is not None and at is not None:
        title = f"Give `{evidence.input}` the derivative of what `forward` computes"
        yield Proposal("layer-derived", title, (Editor(operation.module).replace(at, text),), "", 1)


def written_by(backward: ast.AST, attribute: str) -> ast.expr | None:
    """Return the expression that a backward stores in an attribute, or, without one, returns; None
    if there are several."""
    if attribute:
        pairs = (pair for node in walk_scope(backward) for pair in assigned_pairs(node))
        found = [value for target, value in pairs if spelled(target) == attribute]
    else:
        found = [one.value for one in nodes_of(backward, ast.Return) if one.value is not None]
    return found[0] if len(found) == 1 else None


def _gradient(forward: ast.FunctionDef, variable: str, given: str) -> str | None:
    """Return the gradient of a variable of a forward, in terms of what its layer keeps; None if it
    is not known how to write it."""
    bound = {spelled(t): v for node in walk_scope(forward) for t, v in assigned_pairs(node)}
    returned = [one.value for one in nodes_of(forward, ast.Return) if one.value is not None]
    returned = returned or [bound[name] for name in ("self.output",) if name in bound]
    if len(returned) != 1:
        return None
    kept = {spelled(v): name for name, v in bound.items() if "." in name}

    def meant(part: ast.expr) -> tuple[ast.expr, ast.expr]:
        whole = bound.get(ast.unparse(part), part)
        name = kept.get(ast.unparse(whole)) or kept.get(ast.unparse(part))
        return whole, ast.parse(name, mode="eval").body if name else whole

    term = _term(meant(returned[0])[0], variable)
    text = of_matrix_product(term, variable, given) if term is not None else None
    if text is None and term is not None:
        found = derivative(term, variable, meant)
        text = product(found, given) if found is not None else None
        if text == given and "." in variable:  # one row for all of a batch
            text = f"{given}.sum(axis=0)"
    return _in_backward(text, given, kept) if text is not None else None


def _term(expression: ast.expr, variable: str) -> ast.expr | None:
    """Return the term of a sum that holds a variable; None if several do."""
    match expression:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = [one for one in (left, right) if _holds(one, variable)]
            return _term(sides[0], variable) if len(sides) == 1 else None
    return expression


def _holds(node: ast.expr, variable: str) -> bool:
    return any(ast.unparse(part) == variable for part in ast.walk(node))


def _in_backward(text: str, given: str, kept: Mapping[str, str]) -> str | None:
    """Return an expression in names that a backward knows; None if there are others."""
    tree = ast.parse(text, mode="eval").body
    text = ast.unparse(_Renaming(kept).visit(tree))
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return text if names <= {given, "self", "np", "numpy"} else None


class _Renaming(ast.NodeTransformer):
    """Puts attributes in the place of the names that they were bound to."""

    def __init__(self, kept: Mapping[str, str]) -> None:
        self._kept = kept

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Return the attribute of a name; the name itself if there is none."""
        name = self._kept.get(node.id)
        return ast.parse(name, mode="eval").body if name else node
