"""Explain why a value has no graph if no call of torch's cut it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from analyzers.advice.custom_functions import function_class
from analyzers.advice.graphs import flag_on_module
from analyzers.evidence import MissingGraph
from analyzers.explain.source_locations import resolve_location
from analyzers.source.callees import is_call, keyword
from analyzers.source.flow import definitions
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import walk
from analyzers.source.writes import is_true
from provenance import CodeLine

TRANSFORMS = tuple(
    f"torch.func.{name}" for name in ("vmap", "grad", "jacrev", "jacfwd", "hessian", "vjp", "jvp")
)
_EVALUATING = frozenset({"predict_step", "test_step", "validation_step"})


@dataclass(frozen=True, slots=True)
class Reason:
    """What left a value without a graph, at a line, and what to do."""

    kind: Literal["constant", "evaluation", "flag", "inference", "list", "transform"]
    place: CodeLine
    why: str
    remedy: str
    name: str = ""


def reason_of(evidence: MissingGraph, project: Project) -> Reason | None:
    """Return the reason, as far as the run or the source shows one."""
    if evidence.lost_by in ("constant", "grad"):
        return _constant(evidence, project)
    if evidence.lost_by in ("no_grad", "unknown") and (found := _evaluated(evidence, project)):
        return found
    if evidence.lost_by == "inference":
        return _inference(project)
    in_function = evidence.lost_by == "no_grad" and _is_in_function(evidence, project)
    if not in_function and (evidence.lost_by != "unknown" or evidence.ended_at is not None):
        return None
    if (transformed := _transformed(evidence, project)) is not None:
        return transformed
    shown = _in_source(project)
    return next((one for one in shown if one.kind == "list" or not in_function), None)


def _transformed(evidence: MissingGraph, project: Project) -> Reason | None:
    """Return the reason if the derivative is taken inside a function that `torch.func` calls."""
    where = resolve_location(project, evidence.at)
    if where is None or not isinstance(where.scope, ast.FunctionDef):
        return None
    for call in where.module.each(ast.Call):
        given = next(iter(call.args), None)
        if not isinstance(given, ast.Name) or given.id != where.scope.name:
            continue
        if is_call(call, *TRANSFORMS) or where.module.names.qualified(call.func) in TRANSFORMS:
            by = spelled(call.func)
            return Reason(
                "transform",
                where.place,
                f"`{given.id}` runs under `{by}` (line {call.lineno}), and what that hands to it "
                "has no graph inside, whatever it was computed from",
                "take the derivative outside of the transform; or let it transform the function "
                "that computes the value (`torch.func.grad`), from the parameters on.",
                given.id,
            )
    return None


def _evaluated(evidence: MissingGraph, project: Project) -> Reason | None:
    """Return the reason if the backward stands in a method that Lightning evaluates with."""
    where = resolve_location(project, evidence.at)
    name = getattr(where.scope, "name", "") if where is not None else ""
    if where is None or name not in _EVALUATING:
        return None
    owner = where.module.class_of(where.scope)
    bases = where.module.names.bases(owner) if owner is not None else ()
    if not any(base.endswith("LightningModule") for base in bases):
        return None
    return Reason(
        "evaluation",
        where.place,
        f"Lightning calls `{name}` in inference mode, in which nothing is recorded, not even under "
        "`torch.enable_grad()`",
        "pass `inference_mode=False` to the `Trainer`, and keep `with torch.enable_grad():` around "
        "what needs gradients.",
        name,
    )


def _inference(project: Project) -> Reason | None:
    """Return the reason if the source computes something in inference mode."""
    for module in project.modules.values():
        for call in module.each(ast.Call):
            if is_call(call, "torch.inference_mode"):
                return Reason(
                    "inference",
                    CodeLine(module.path, call.lineno),
                    f"`{spelled(call.func)}` makes tensors that no graph can hold, also outside of "
                    "it, so what is computed from them alone has none",
                    "use `torch.no_grad()` there, or return a `.clone()` made outside of it.",
                )
    return None


def _is_in_function(evidence: MissingGraph, project: Project) -> bool:
    """Return True if the graph ended in the forward of a custom Function, which records nothing."""
    where = resolve_location(project, evidence.ended_at)
    holder = where.module.parents.get(where.scope) if where is not None else None
    return where is not None and holder is not None and bool(function_class(holder, where.module))


def _constant(evidence: MissingGraph, project: Project) -> Reason | None:
    """Return the reason for a derivative that should have a graph and has none: it depends on
    nothing.
    """
    where = resolve_location(project, evidence.ended_at)
    call = where.call("torch.autograd.grad") if where is not None else None
    if where is None or call is None or not _makes_graph(call):
        return None
    by = spelled(call.args[1]) if len(call.args) > 1 else "its input"
    return Reason(
        "constant",
        where.place,
        f"the derivative by `{by}` is a constant here (of a linear function), so it has no graph "
        "although `create_graph=True` asks for one; its own derivative is zero",
        f"where a constant is possible, take zeros: `torch.zeros_like({by})` if the derivative "
        "does not require grad.",
        by,
    )


def _makes_graph(call: ast.Call) -> bool:
    return is_true(keyword(call, "create_graph"))


def _in_source(project: Project) -> Iterator[Reason]:
    for module in project.modules.values():
        for node in module.nodes:
            place = CodeLine(module.path, getattr(node, "lineno", 1))
            if (name := flag_on_module(node, module)) is not None and _switches_on(node):
                owner = name.removesuffix(".requires_grad")
                why = f"`{name} = True` on a module only makes a Python attribute: its parameters "
                yield Reason(
                    "flag",
                    place,
                    f"{why}stay frozen",
                    f"call the method: `{owner}.requires_grad_(True)`.",
                    owner,
                )
            if (name := _listed(node, module)) is not None:
                yield Reason(
                    "list",
                    place,
                    f"`{name}.apply` is given a list: a custom Function follows the tensors among "
                    "its arguments only, none inside of lists",
                    f"hand them over one by one: `{name}.apply(*tensors)`, with "
                    "`forward(ctx, *tensors)`.",
                    name,
                )


def _switches_on(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Constant) and value.value is True


def _listed(node: ast.AST, module: Module) -> str | None:
    """Return the script's own Function whose `apply` receives nothing but lists of tensors."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name = spelled(node.func.value)
    own = {n.name for n in module.each(ast.ClassDef) if function_class(n, module) is not None}
    if node.func.attr != "apply" or name not in own or not node.args:
        return None
    listed = [one for one in node.args if _is_list(one, node, module)]
    return name if listed and len(listed) == len(node.args) else None


def _is_list(value: ast.expr, at: ast.AST, module: Module) -> bool:
    if isinstance(value, ast.Name):
        given = definitions(module.scope_of(at), value.id)
        made = [n.value for n in given if isinstance(n, ast.Assign)]
        return bool(made) and all(isinstance(v, ast.List | ast.Tuple | ast.ListComp) for v in made)
    kinds = ast.List | ast.Tuple | ast.ListComp
    return isinstance(value, kinds) and any(isinstance(n, ast.Name) for n in walk(value))
