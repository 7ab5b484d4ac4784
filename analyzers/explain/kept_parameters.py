"""Tell parameters that no optimizer holds on purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.source import priors
from analyzers.source.callees import operation
from analyzers.source.project import Module, Project, spelled

UNHELD = "unheld-parameters"
LOADED = "the script has loaded what they hold"
_CONSTRUCTING = ("classmethod", "staticmethod")
_BASES = ("object", "torch.nn.Module")
_BY_TORCH = ("forward", "load_state_dict", "main")


def reason_to_stay(names: Sequence[str], kind: str, project: Project, detail: str = "") -> str:
    """Return why parameters without an optimizer are meant to stay as they are, as a clause; '' if
    nothing shows it.

    Most of their names say so, the script itself asks for their gradient, the run saw that it loads
    them (`detail` of the fault), or a library makes a model of weights that were trained before;
    not where the script sets just these modules to train, and never to evaluate.
    """
    if names and 2 * sum(map(priors.is_left_out, names)) >= len(names):
        return "their name says that they stay as they are"
    asked = {spelled(node.value) for _, node in project.each(ast.Attribute) if node.attr == "grad"}
    if not asked.isdisjoint(names):
        return "the script reads these gradients itself"
    if kind == UNHELD and _set_to_train({name.partition(".")[0] for name in names}, project):
        return ""
    loading = filter(_loads, project.each(ast.Call)) if kind == UNHELD else ()
    if detail == LOADED or any(_may_run(module, call, project) for module, call in loading):
        return "the script loads weights that were trained before"
    return ""


def _set_to_train(owners: set[str], project: Project) -> bool:
    """Return True if `owner.train()` is called on each of these, and `owner.eval()` on none; nor is
    a part of one asked for its parameters or given a name, as where only a new head is to learn.
    """
    called = {spelled(call.func) for _, call in project.each(ast.Call) if not call.args}
    asked = {name.partition(".")[0] for name in called if name.endswith("parameters")}
    trained = {f"{owner}.train" for owner in owners} <= called
    kept = {f"{owner}.eval" for owner in owners} & called
    values = (node.value for _, node in project.each(ast.Assign))
    asked |= {spelled(v).partition(".")[0] for v in values if isinstance(v, ast.Attribute)}
    return bool(owners) and trained and not kept and not owners & asked


def _loads(found: tuple[Module, ast.Call]) -> bool:
    """Return True if a call makes a module of weights that were trained before."""
    _, call = found
    return operation(call) == "from_pretrained" or any(
        keyword.arg in ("pretrained", "weights")
        and getattr(keyword.value, "value", True) not in (None, False)
        for keyword in call.keywords
    )


def _may_run(module: Module, node: ast.AST, project: Project) -> bool:
    """Return True unless a node is in a function that neither the script nor a library names: in
    one of the module's own, or in a method of a class that inherits at most from `nn.Module`.
    """
    function, owner = module.scope_of(node), module.class_of(node)
    if not isinstance(function, ast.FunctionDef) or function.name.startswith(("_", "test")):
        return True
    asked = [one for one in function.decorator_list if spelled(one) not in _CONSTRUCTING]
    bases = module.names.bases(owner) if owner is not None else ()
    inherited = [one for one in bases if one not in _BASES and not one.startswith(".")]
    if asked or inherited or function.name in _BY_TORCH:
        return True
    return any(
        other is not module or not module.holds(function, mention)
        for other, mention in _mentions(function.name, project)
    )


def _mentions(name: str, project: Project) -> Iterator[tuple[Module, ast.AST]]:
    """Yield the nodes that may mean a function of this name."""
    for module, node in project.each(ast.Name):
        if node.id == name:
            yield module, node
    for module, attribute in project.each(ast.Attribute):
        if attribute.attr == name:
            yield module, attribute
    for module, constant in project.each(ast.Constant):
        if constant.value == name:
            yield module, constant
