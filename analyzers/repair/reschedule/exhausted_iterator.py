"""Fix gradients that a loop clears over an iterator which its first execution has exhausted:
`trainable = filter(lambda p: p.requires_grad, net.parameters())`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.source.callees import is_call
from analyzers.source.calls import PARAMETERS
from analyzers.source.flow import definitions, walk_scope
from analyzers.source.project import spelled
from analyzers.source.trees import walk

_ITERATORS = (
    *(f"builtins.{name}" for name in ("filter", "map", "zip", "iter", "reversed")),
    *("itertools.chain", "itertools.chain.from_iterable", "itertools.islice", *PARAMETERS),
    *(f"torch.nn.Module.{name}" for name in ("buffers", "modules", "children")),
)


@dataclass(frozen=True)
class ExhaustedIterator:
    """The loop that clears gradients, and the statement before the training loop that made its
    iterator."""

    loop: ast.For
    name: str
    made: ast.Assign


def exhausted_iterator(where: SourceLocation) -> ExhaustedIterator | None:
    """Return the first such loop in the iterations of a step, if there is one."""
    loops = where.module.loops_around(where.statement)
    for node in walk_scope(where.scope):
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Name):
            continue
        around = [one for one in loops if where.module.holds(one, node)]
        made = definitions(where.scope, node.iter.id)
        if not around or not _clears(node) or len(made) != 1:
            continue
        match made[0]:
            case ast.Assign(value=ast.GeneratorExp() | ast.Call() as value) as statement if (
                not where.module.holds(around[-1], statement)
                and (isinstance(value, ast.GeneratorExp) or is_call(value, *_ITERATORS))
            ):
                return ExhaustedIterator(node, node.iter.id, statement)
    return None


def kept_as_list(where: SourceLocation, used: ExhaustedIterator) -> Iterator[Proposal]:
    """Yield a proposal with a list instead of the iterator."""
    value, text = used.made.value, where.editor.text_of(used.made.value)
    listed = f"list{text}" if isinstance(value, ast.GeneratorExp) else f"list({text})"
    title = f"Make `{used.name}` a list, which every iteration can go through"
    yield Proposal("zero-grad", title, (where.editor.replace(value, listed),))


def _clears(loop: ast.For) -> bool:
    """Return True if the loop drops gradients, or sets them to zero."""
    return any(
        (
            isinstance(node, ast.Assign)
            and any(spelled(target).endswith(".grad") for target in node.targets)
            and spelled(node.value) == "None"
        )
        or (isinstance(node, ast.Call) and spelled(node.func).endswith(".grad.zero_"))
        for node in walk(loop)
    )
