"""Find samples of distributions, which carry no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source import priors
from analyzers.source.callees import is_call
from analyzers.source.flow import bindings, names_read, own_expressions
from analyzers.source.project import Module, Project
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


def means_numbers(project: Project) -> bool:
    """Return True if a script's samples may be meant as numbers: it asks for log-probabilities, has
    samples with a gradient elsewhere, or names no divergence that the distribution is held by.
    """
    modules = project.modules.values()
    if any(attributes_loaded(m.nodes, name) for m in modules for name in ("log_prob", "rsample")):
        return True
    names = {
        name
        for module in modules
        for node in module.nodes
        for field in ("id", "attr", "name")
        if isinstance(name := getattr(node, field, None), str)
    }
    return not any(map(priors.is_divergence, names))
