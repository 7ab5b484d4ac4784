"""Find the factors of log-probabilities in a policy's loss."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from analyzers.explain.reuse.derivations import made_of
from analyzers.source import priors
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import Scope
from analyzers.source.reads import attributes_loaded
from analyzers.source.trees import walk


def weights(
    scope: Scope, nodes: Iterable[ast.AST], *, by_name: bool = False
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the factors of log-probabilities among nodes of a function, each with what it weighs:
    results of `log_prob`; with `by_name` also what is only named like a logarithm or a ratio.
    """
    logs = {
        name
        for statement in statements_of(scope)
        if (value := value_of(statement)) is not None and attributes_loaded(walk(value), "log_prob")
        for name in bindings(statement)
    }

    def is_log_probability(value: ast.expr) -> bool:
        if attributes_loaded(walk(value), "log_prob") or made_of(scope, value) & logs:
            return True
        return by_name and any(map(priors.is_logarithm, names_read(value)))

    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for weight, rest in ((node.right, node.left), (node.left, node.right)):
                if is_log_probability(rest):
                    yield weight, rest
