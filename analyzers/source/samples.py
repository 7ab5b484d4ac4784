"""Find samples of distributions, which carry no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.callees import is_call
from analyzers.source.flow import own_expressions
from analyzers.source.project import Project
from analyzers.source.reads import attributes_loaded

_SAMPLE = "torch.distributions.Distribution.sample"


def samples(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield calls of `sample` on a distribution, which carry no gradient."""
    for node in own_expressions(statement):
        if isinstance(node, ast.Call) and is_call(node, _SAMPLE):
            if isinstance(node.func, ast.Attribute):
                yield node


def sampled_without_log_prob(project: Project) -> bool:
    """Return True if a script draws samples of torch's distributions, and asks for no
    log-probability by which they could train them. A replay buffer is sampled, too."""
    if not any("distributions" in module.text for module in project.modules.values()):
        return False
    drawn = any(any(samples(statement)) for _, statement in project.each(ast.stmt))
    return drawn and not asks_log_prob(project)


def asks_log_prob(project: Project) -> bool:
    """Return True if a script asks for log-probabilities: then samples may be meant as numbers."""
    modules = project.modules.values()
    return any(attributes_loaded(module.nodes, "log_prob") for module in modules)
