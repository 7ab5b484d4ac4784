"""Fixes for weights that a step changed under a graph that is yet to be walked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.evidence import Visit
from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, leading_to, spot
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import (
    begins_as_leaf,
    carried_attributes,
    carried_names,
    cut_lines,
)
from analyzers.repair.rewrite import copy_into, head_of, move_into, statements_of, without_retaining
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    WALKS,
    assigned_parts,
    bindings,
    called_name,
    names_read,
    value_of,
    walked,
)
from analyzers.source.project import FUNCTIONS, Loop, spelled

_DATA = frozenset(
    {"rand", "randn", "randint", "randperm", "zeros", "ones", "tensor", "arange", "linspace"}
    | {"to", "cuda", "next", "sample", "load", "normal", "zeros_like", "ones_like", "as_tensor"}
)
MAX_CHAINS = 3


@dataclass(frozen=True)
class Schedule:
    """The failing walk and the step before it, as statements of one block of one frame."""

    where: Spot
    walk: ast.stmt
    step: ast.stmt
    block: list[ast.stmt]

    @property
    def straight(self) -> bool:
        """Whether the step stands between the forward and the walk, in one pass."""
        return self.block.index(self.step) < self.block.index(self.walk)


def schedule_of(stale: Stale) -> Schedule | None:
    """The innermost block that leads to both; None where the source does not show it."""
    visit, changed = stale.evidence.reached, stale.change_place
    if visit is None or changed is None:
        return None
    for place in reversed(visit.stack or (visit.at,)):
        where = spot(stale.project, place)
        if where is None:
            continue
        for walk, block in _blocks_around(where):
            step = leading_to(stale.project, block, changed)
            if step is not None and step is not walk:
                return Schedule(where, walk, step, block)
    return None


def _blocks_around(where: Spot) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """The blocks around a statement with the statement of each, innermost first."""
    node: ast.AST = where.statement
    while isinstance(node, ast.stmt) and not isinstance(node, FUNCTIONS[:2]):
        yield node, where.module.block_of(node)
        node = where.module.parents[node]


def root_names(visit: Visit, where: Spot) -> set[str]:
    """Names of the tensor that the failing call walked, in the frame of a statement."""
    call = where.call(*WALKS)
    tensor = walked(call) if call is not None else None
    if tensor is not None:
        return names_read(tensor)
    names = {name.partition("[")[0] for name in visit.root}
    return names | names_read(where.statement)


def fresh_forward(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """The forward of the failing loss behind the step; ever more of it, as far as needed."""
    assert stale.evidence.reached is not None
    before = schedule.block[: schedule.block.index(schedule.step)]
    names = _needed_behind(schedule, root_names(stale.evidence.reached, schedule.where))
    editor = schedule.where.editor
    following = schedule.block[schedule.block.index(schedule.step) + 1]
    for chain in chains(before, names):
        between = [s for s in [*before, schedule.step] if s not in chain]
        made = {name for statement in chain for name in bindings(statement)}
        needed = any(made & names_read(s) for s in between if s.lineno > chain[0].lineno)
        edits = (copy_into if needed else move_into)(editor, chain, following)
        told = ", ".join(f"`{bindings(s)[0]}`" for s in chain)
        yield Proposal(
            "fresh-forward",
            f"Compute {told} behind the step",
            joined(edits),
            "The loss is computed from the weights as the step has left them.",
            rank,
        )
        rank += 1


def _needed_behind(schedule: Schedule, names: set[str]) -> set[str]:
    """What must be there behind the step for the walked names to be made: they, or what the
    statements up to the walk make them of."""
    at, walk_at = schedule.block.index(schedule.step), schedule.block.index(schedule.walk)
    wanted = set(names)
    for statement in reversed(schedule.block[at + 1 : walk_at]):
        value = value_of(statement)
        if value is not None and set(bindings(statement)) & wanted:
            wanted |= names_read(value)
    return wanted


def chains(before: Sequence[ast.stmt], names: set[str]) -> Iterator[list[ast.stmt]]:
    """Statements that make the names: the last one, then with what it is computed from."""
    wanted, chain = set(names), list[ast.stmt]()
    found = 0
    for statement in reversed(before):
        value = value_of(statement)
        if value is None or not set(bindings(statement)) & wanted or _is_data(value):
            continue
        chain = [statement, *chain]
        wanted |= names_read(value)
        yield chain
        found += 1
        if found == MAX_CHAINS:
            return


def _is_data(value: ast.expr) -> bool:
    """Whether a value is made of data only, as far as its calls tell."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return not calls or all(called_name(call) in _DATA for call in calls)


def steps_last(schedule: Schedule, rank: int = 1) -> Iterator[Proposal]:
    """All walks first: the step goes behind the failing one, clearing goes in front of both."""
    at, walk_at = schedule.block.index(schedule.step), schedule.block.index(schedule.walk)
    between = schedule.block[at + 1 : walk_at]
    if not all(isinstance(s, ast.Expr) for s in [schedule.step, *between]):
        return
    editor = schedule.where.editor
    stays = _moved(editor, [schedule.step], schedule.walk)
    title = "All backwards first, then the steps"
    yield Proposal("steps-last", title, joined(stays), "", rank)
    cleared = [s for s in between if calls_named(s, "zero_grad")]
    walks = [s for s in schedule.block[:at] if calls_named(s, "backward")]
    if cleared and walks:
        lines = [line for s in cleared for line in editor.lines_of(s)]
        first = editor.insert_before(walks[-1], *lines)
        edits = [*stays, first, *(editor.delete(s) for s in cleared)]
        yield Proposal("steps-last", title, joined(edits), "", rank + 1)


def _moved(editor: Editor, statements: Sequence[ast.stmt], behind: ast.stmt) -> list[Edit]:
    lines = [line for s in statements for line in editor.lines_of(s)]
    return [*(editor.delete(s) for s in statements), editor.insert_after(behind, *lines)]


def detach_carried(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """What one pass hands to the next, cut at the head of the loop; the graph not kept."""
    loops = schedule.where.module.loops_around(schedule.walk)
    evidence = stale.evidence
    if not loops or evidence.reached is None:
        return
    editor = schedule.where.editor
    names = carried_names(loops[0], root_names(evidence.reached, schedule.where))
    if schedule.block is not loops[0].body:
        yield from _cut_all(stale, schedule, names, rank)
    for name in names:
        yield from _cut_where_kept(stale, schedule, loops[0], name, rank)
        for lines in cut_lines(schedule.where.scope, name, indentation(schedule.where.module)):
            edits = [editor.insert_before(head_of(loops[0]), *lines)]
            yield _cut(name, [*edits, *released(stale)], rank)
            rank += 1


def _cut_where_kept(
    stale: Stale, schedule: Schedule, loop: Loop, name: str, rank: int
) -> Iterator[Proposal]:
    """What the loop puts into a structure for later passes, detached as it goes in."""
    editor = schedule.where.editor
    edits = [
        editor.append_to(part, ".detach()")
        for statement in statements_of(loop)
        for target, part in assigned_parts(statement)
        if spelled(target).startswith(f"{name}[") and isinstance(part, ast.Name | ast.Attribute)
    ]
    if edits:
        yield _cut(name, [*edits, *released(stale)], rank)


def _cut_all(
    stale: Stale, schedule: Schedule, names: Sequence[str], rank: int
) -> Iterator[Proposal]:
    """All that passes hand on, cut behind the step of a window; a leaf goes on as a leaf."""
    scope = schedule.where.scope
    begun_anew = {n for s in schedule.block for n in bindings(s) if s.lineno > schedule.step.lineno}
    lines: list[str] = []
    names = [name for name in names if name not in begun_anew]
    for name in names:
        variants = [line for found in cut_lines(scope, name) for line in found if "=" in line]
        if variants:
            leaf = ".requires_grad_()" if begins_as_leaf(scope, name) else ""
            lines.append(variants[0].strip() + leaf)
    if len(lines) < 2:
        return
    edit = schedule.where.editor.insert_after(schedule.step, *lines)
    told = "` and `".join(names)
    yield _cut(told, [edit, *released(stale)], rank)


def detach_attributes(stale: Stale, rank: int = 1) -> Iterator[Proposal]:
    """What an object hands to the next call, cut where the call begins to read it."""
    node = stale.evidence.node
    where = spot(stale.project, node.at if node is not None else None)
    if where is None:
        return
    for name, first in carried_attributes(where):
        for lines in cut_lines(where.module.tree, name, indentation(where.module)):
            edits = [where.editor.insert_before(first, *lines)]
            yield _cut(name, [*edits, *released(stale)], rank)
            rank += 1


def _cut(name: str, edits: Sequence[Edit], rank: int) -> Proposal:
    return Proposal(
        "detach-carried",
        f"Detach `{name}` where the next pass begins",
        joined(edits),
        "Each pass learns on its own (truncated BPTT): nothing is learned through earlier passes.",
        rank,
    )


def released(stale: Stale) -> Iterator[Edit]:
    """The failing walk without `retain_graph=True`."""
    visit = stale.evidence.reached
    return without_retaining(spot(stale.project, visit.at if visit is not None else None))


def one_step_behind(stale: Stale, schedule: Schedule, rank: int = 2) -> Iterator[Proposal]:
    """One forward for all passes of the loop: clear before it, step behind it. What names
    something of a single pass stays in it."""
    loops = schedule.where.module.loops_around(schedule.walk)
    if not loops or not isinstance(schedule.step, ast.Expr) or schedule.step not in loops[0].body:
        return
    loop, editor = loops[0], schedule.where.editor
    own = _bound_in(loop)
    if names_read(schedule.step) & own:
        return
    cleared = [
        s
        for s in loop.body
        if isinstance(s, ast.Expr) and calls_named(s, "zero_grad") and not names_read(s) & own
    ]
    edits = [editor.delete(s) for s in [*cleared, schedule.step]]
    if cleared:
        lines = [line for s in cleared for line in editor.lines_of(s)]
        edits.append(editor.insert_before(loop, *lines))
    edits.append(editor.insert_after(loop, *editor.lines_of(schedule.step)))
    yield Proposal(
        "step-behind-loop",
        "Call backward on all losses, then one step after the loop",
        joined(edits),
        "One step follows the summed gradients, where there were several.",
        rank,
    )


def forward_in_loop(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """What is computed once before the loop and walked in each pass, computed in each pass."""
    loops = schedule.where.module.loops_around(schedule.walk)
    if not loops or stale.evidence.reached is None:
        return
    loop: Loop = loops[0]
    block = schedule.where.module.block_of(loop)
    before = block[: block.index(loop)]
    names = root_names(stale.evidence.reached, schedule.where) - _bound_in(loop)
    editor = schedule.where.editor
    for chain in chains(before, names):
        edits = move_into(editor, chain, head_of(loop))
        told = ", ".join(f"`{bindings(s)[0]}`" for s in chain)
        yield Proposal(
            "forward-in-loop",
            f"Compute {told} inside the loop",
            joined([*edits, *released(stale)]),
            "The forward runs once in each pass.",
            rank,
        )
        rank += 1


def _bound_in(loop: Loop) -> set[str]:
    return {n for s in ast.walk(loop) if isinstance(s, ast.stmt) for n in bindings(s)}
