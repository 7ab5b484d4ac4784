"""Find samples of distributions, which carry no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.source import priors
from analyzers.source.callees import is_call
from analyzers.source.flow import bindings, names_read, own_expressions
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import attributes_loaded

_SAMPLE = "torch.distributions.Distribution.sample"


def samples(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield calls of `sample` on a distribution, which carry no gradient."""
    for node in own_expressions(statement):
        if isinstance(node, ast.Call) and is_call(node, _SAMPLE):
            if isinstance(node.func, ast.Attribute):
                yield node


def sampled_without_log_prob(project: Project) -> bool:
    """Return True if a script draws samples of torch's distributions that should pass a gradient
    on. A replay buffer is sampled, too."""
    if not any("distributions" in module.text for module in project.modules.values()):
        return False
    drawn = any(any(samples(statement)) for _, statement in project.each(ast.stmt))
    return drawn and not means_numbers(project)


def is_scored(module: Module, statement: ast.stmt) -> bool:
    """Return True if a sample is subtracted from what its distribution is made of, or the other way
    round: a log-probability that is written by hand.
    """
    drawn = set(bindings(statement))
    made = {name for call in samples(statement) for name in names_read(call)} - drawn
    for assigned in module.each(ast.Assign):
        made |= names_read(assigned.value) if made & set(bindings(assigned)) else set()
    differences = (n for n in module.each(ast.BinOp) if isinstance(n.op, ast.Sub))
    sides = ((names_read(one.left), names_read(one.right)) for one in differences)
    return any((a & drawn and b & made) or (b & drawn and a & made) for a, b in sides)


def _is_kept_elsewhere(module: Module) -> bool:
    """Return True if a sample keeps its gradient that is no other arm's of one without."""
    either = 0
    for branch in module.each(ast.If):
        for one, other in ((branch.body, branch.orelse), (branch.orelse, branch.body)):
            drawn = {name for s in one if any(samples(s)) for name in bindings(s)}
            arms = [s for s in other if isinstance(s, ast.Assign) and drawn & {*bindings(s)}]
            either += sum(len(attributes_loaded(ast.walk(s), "rsample")) for s in arms)
    return len(attributes_loaded(module.nodes, "rsample")) > either


def _may_score(modules: Sequence[Module]) -> bool:
    """Return True if a log-probability may be that of a sample: of a distribution or of a value
    that has the name of one which is sampled, or by another expression than a name."""
    drawn = set[str]()
    for one in (one for module in modules for one in module.each(ast.Assign)):
        asked = [node.value for node in attributes_loaded(ast.walk(one.value), "sample")]
        drawn |= {*bindings(one), *map(spelled, asked)} if asked else set()
    parts = (part for module in modules for one in module.each(ast.Call) for part in _scored(one))
    return any(not isinstance(part, ast.Name) or part.id in drawn for part in parts)


def _scored(call: ast.Call) -> list[ast.expr]:
    """Return the distribution and the values, if the call asks for a log-probability."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "log_prob":
        return []
    return [call.func.value, *call.args, *(keyword.value for keyword in call.keywords)]


def means_numbers(project: Project) -> bool:
    """Return True if a script's samples may be meant as numbers: it asks for the log-probabilities
    of what may be one, has samples with a gradient elsewhere, or names no divergence that the
    distribution is held by.
    """
    modules = project.modules.values()
    if any(map(_is_kept_elsewhere, modules)) or _may_score([*modules]):
        return True
    names = {
        name
        for module in modules
        for node in module.nodes
        for field in ("id", "attr", "name")
        if isinstance(name := getattr(node, field, None), str)
    }
    return not any(map(priors.is_divergence, names))
