"""Find the statements that bind names, and build the edit that repeats them elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import joined, lines_with
from analyzers.repair.rewrite import copy_into, move_into
from analyzers.source.callees import plain_name
from analyzers.source.calls import operations_in
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read, value_of
from analyzers.source.project import spelled
from analyzers.source.statement_ranges import bound_by
from analyzers.source.trees import nodes_of

DATA = frozenset(
    {"rand", "randn", "randint", "randperm", "zeros", "ones", "tensor", "arange", "linspace"}
    | {"to", "cuda", "next", "sample", "load", "normal", "zeros_like", "ones_like", "as_tensor"}
)
_DRAWS = frozenset(
    {"rand", "randn", "rand_like", "randn_like", "randint", "randperm", "normal", "multinomial"}
    | {"bernoulli", "sample", "rsample", "choice", "shuffle", "dropout", "uniform_", "normal_"}
)
MOST = 3


def computed(
    strategy: str,
    editor: Editor,
    chain: Sequence[ast.stmt],
    head: ast.stmt,
    where: str,
    cost: str = "",
    rank: int = 0,
    *,
    moved: bool,
    also: Iterable[Edit] = (),
) -> Proposal:
    """Return a proposal that moves or copies statements before another."""
    edits = joined([*(move_into if moved else copy_into)(editor, chain, head), *also])
    verb = "Call" if all(map(_called_alone, chain)) else "Compute"
    return Proposal(strategy, f"{verb} {names_bound(chain)} {where}", edits, cost, rank)


def makers(before: Sequence[ast.stmt], names: set[str]) -> Iterator[list[ast.stmt]]:
    """Yield the statements that bind the names: the last one, then with what
    it is computed from.
    """
    wanted, chain = set(names), list[ast.stmt]()
    for statement in reversed(before):
        value = value_of(statement)
        if value is None or not set(bindings(statement)) & wanted or is_data(value, before):
            continue
        chain = [statement, *chain]
        wanted |= names_read(value)
        yield chain
        if len(chain) == MOST:
            return


def is_data(value: ast.expr, before: Sequence[ast.stmt], depth: int = 3) -> bool:
    """Return True if a value is computed from data only, as far as its calls show; without any,
    those by which the block computed its parts.
    """
    calls = nodes_of(value, ast.Call)
    if calls or not depth:
        return all(plain_name(call) in DATA for call in calls)
    made = [s for s in before if s.lineno < value.lineno and set(bindings(s)) & names_read(value)]
    return all(is_data(v, before, depth - 1) for s in made if (v := value_of(s)) is not None)


def of_constants(
    editor: Editor,
    chain: Sequence[ast.stmt],
    before: Sequence[ast.stmt],
    head: ast.stmt,
    where: str,
) -> Iterator[Proposal]:
    """Yield a proposal that copies statements before another, with what earlier forwards computed,
    and the first of them calls something on, detached; none if there is nothing of the kind.
    """
    first, *rest = chain
    made = bound_by(s for s in before if (v := value_of(s)) and not is_data(v, before))
    calls = nodes_of(value_of(first) or first, ast.Call)
    given = [a for call in calls for a in call.args if isinstance(a, ast.Name) and a.id in made]
    cuts = [editor.append_to(a, ".detach()") for a in given]
    if cuts:
        title = f"Compute {names_bound(chain)} {where}, of what was made before as a constant"
        cost = "The loss is computed from the weights as the step has left them, and sends no "
        cost += "gradient to what comes before them."
        lines = [*lines_with(editor, first, cuts), *(editor.lines_of(*rest) if rest else ())]
        edit = editor.insert_before(head, *lines)
        yield Proposal("of-constants", title, (edit,), cost)


def names_bound(chain: Sequence[ast.stmt]) -> str:
    """Return what the statements bind, by name; calls without a result as they are spelled."""
    made = [name for s in chain for name in bindings(s)[:1] or _called_alone(s)]
    return ", ".join(f"`{name}`" for name in made)


def _called_alone(statement: ast.stmt) -> list[str]:
    """Return the call that makes up a whole statement."""
    alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return [spelled(statement)] if alone else []


def draws(chain: Sequence[ast.stmt]) -> bool:
    """Return True if the statements draw random numbers."""
    return any(operations_in(statement, _DRAWS) for statement in chain)
