"""Recompute a graph where backward is called: in each iteration of the loop, in the cell that is
run again, for the second call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.blocks import joined
from analyzers.repair.remake.chains import chains_of, constructs, other_reads, preceding
from analyzers.repair.remake.repeated_chains import computed, draws, makers, of_constants
from analyzers.repair.rewrite import head_of, unused_name
from analyzers.repair.sites.scopes import covers
from analyzers.source.backward import backward_root
from analyzers.source.callees import operation
from analyzers.source.calls import own_calls
from analyzers.source.cells import NotebookCell
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read, statements_of
from analyzers.source.project import Loop, Module, Project, Scope, spelled
from analyzers.source.statement_ranges import (
    bound_by,
    computing,
    first_reading,
    names_feeding,
    read_by,
)
from analyzers.source.targets import assigned_pairs, taken_by
from analyzers.source.trees import nodes_of, position


def forward_into_loop(story: ReuseFeatures, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that move the statements that compute the carrier to the head of the loop."""
    shared = story.shared
    loop = story.loop or (shared.loops[0] if shared is not None and shared.loops else None)
    if shared is None or loop is None:
        return
    module, scope = shared.module, shared.scope
    names = {c.name for c in story.carriers} or story.root_names
    if not any(True for _ in chains_of(module, scope, loop, names)):
        names = names | _computed_before(story, module, scope, loop)
    around = [scope, *(n for n in module.ancestors(scope) if n in module.scopes)]
    found = (
        (outer, list(chains_of(module, outer, loop, names, story.storing_calls(outer))))
        for outer in around
    )
    scope, chains = next((pair for pair in found if pair[1]), (scope, []))
    for place, chain in enumerate(chains):
        if _loses_entries(loop, chain):
            continue
        cost = "The forward runs once in each iteration."
        if draws(chain):
            cost += " Random numbers are drawn again each time."
        head, where = head_of(loop), "inside the loop"
        editor, at = Editor(module), rank + place
        requests = list(_requested_again(editor, loop, chain)) if isinstance(loop, ast.For) else []
        if requests and draws(chain):
            continue  # the current item would not be part of what is drawn then
        alone = not _read_between(scope, chain, loop) and not requests
        moved = computed("forward-into-loop", editor, chain, head, where, cost, at, moved=alone)
        yield replace(moved, edits=joined([*moved.edits, *requests]))


def _loses_entries(loop: Loop, chain: Sequence[ast.stmt]) -> bool:
    """Return True if the chain makes a dictionary of several entries, which the loop sets: made
    again, it would forget what the loop has put under all of them.
    """
    made = {
        spelled(target)
        for statement in chain
        for target, value in assigned_pairs(statement)
        if isinstance(value, ast.Dict) and len(value.keys) > 1
    }
    return any(
        spelled(node.value) in made and isinstance(node.ctx, ast.Store)
        for node in nodes_of(loop, ast.Subscript)
    )


def _requested_again(editor: Editor, loop: ast.For, chain: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Yield edits by which an iteration takes the same item of the recomputed collection: `y =
    ys[i]` for `y in ys`, with the number of the iteration.
    """
    made = bound_by(chain)
    pairs = [(t, s) for t, s in taken_by(loop) if isinstance(s, ast.Name) and s.id in made]
    if not pairs or not all(isinstance(target, ast.Name) for target, _ in pairs):
        return
    match loop.target, loop.iter:
        case ast.Tuple(elts=[ast.Name(id=number), _]), ast.Call(func=ast.Name(id="enumerate")):
            pass
        case target, _:
            number = unused_name(editor.module, "i")
            text = editor.text_of(target)
            if isinstance(target, ast.Tuple) and not text.startswith("("):
                text = f"({text})"
            yield editor.replace(target, f"{number}, {text}")
            yield editor.replace(loop.iter, f"enumerate({editor.text_of(loop.iter)})")
    lines = [f"{spelled(target)} = {spelled(source)}[{number}]" for target, source in pairs]
    yield editor.insert_before(head_of(loop), *lines)


def _computed_before(
    story: ReuseFeatures, module: Module, scope: Scope, loop: ast.stmt
) -> set[str]:
    """Return names that hold, before the loop, what was computed there together with the old graph:
    by the statement itself, by a function, or by a constructor.
    """
    making, lines = set[str](), set[int]()
    for at in (edge.old.at for edge in story.reuse.stale_edges if edge.old.at is not None):
        *owners, function = at.function.split(".")
        making.add(owners[-1] if function == "__init__" and owners else function)
        lines |= {at.line} if at.file == module.path else set()
    return {
        name
        for statement in preceding(module, scope, loop)
        if own_calls(statement, *making) or any(covers(statement, line) for line in lines)
        for name in bindings(statement)
    }


def forward_into_cell(story: ReuseFeatures, cell: NotebookCell) -> Iterator[Proposal]:
    """Yield proposals that move (or copy, if its values are read before) into the cell what
    computes the carrier.
    """
    if story.shared is None:
        return
    module = story.shared.module
    inside = statements_in(module, cell)
    if not inside:
        return
    names = {carrier.name for carrier in story.carriers} | story.root_names
    names -= {name for statement in inside for name in bindings(statement)}
    where = f"in {cell.label}, which calls its backward"
    before = _after_definition(story, module, inside[0])
    seen = story.storing_calls(module.tree)
    for rank, chain in enumerate(chains_of(module, module.tree, before, names, seen)):
        head, editor = _entry(inside, chain), Editor(module)
        alone = not _read_between(module.tree, chain, head)
        random = draws(chain) or _drops_out(story.project)
        cost = "Each run draws new random numbers." if random else ""
        yield computed("forward-into-cell", editor, chain, head, where, cost, rank, moved=alone)


def statements_in(module: Module, cell: NotebookCell) -> list[ast.stmt]:
    """Return the top-level statements of the script that begin in the cell."""
    return [statement for statement in module.tree.body if statement.lineno in cell]


def _after_definition(story: ReuseFeatures, module: Module, head: ast.stmt) -> ast.stmt:
    """Return the statement after the one that computed the carriers: what comes later, up to the
    cell, may never have run.
    """
    made = [carrier.place.line for carrier in story.carriers if carrier.place.file == module.path]
    last = max((line for line in made if line < head.lineno), default=head.lineno)
    return next((s for s in module.tree.body if last < s.lineno <= head.lineno), head)


def _entry(inside: Sequence[ast.stmt], chain: Sequence[ast.stmt]) -> ast.stmt:
    """Return the statement of the cell before which the chain goes: the first, or after what the
    cell computes for the chain, as long as nothing reads the chain's values before.
    """
    made = bound_by(chain)
    needed, head = read_by(chain) - made, inside[0]
    for statement, following in pairwise(inside):
        if names_read(statement) & made:
            break
        if set(bindings(statement)) & needed:
            head = following
    return head


def _drops_out(project: Project) -> bool:
    """Return True if a second forward may apply another dropout mask."""
    return any("dropout" in operation(call).lower() for _, call in project.each(ast.Call))


def recompute_before_backward(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield proposals that recompute what the second loss is made from, before the statements that
    compute that loss, if weights change between the two backward calls. First the last statement,
    then with what it reads.
    """
    shared, call = story.shared, story.root_call
    root = backward_root(call) if call is not None else None
    if shared is None or root is None or not story.same_iteration:
        return
    if story.reuse.reached.at.frame != shared.frame or not _acts_between(shared):
        return
    before = list(preceding(shared.module, shared.scope, shared.reached))
    made = [s for s in before if position(s) < shared.freed_at]
    made = [s for s in made if not constructs(shared.module, s)]
    since = [s for s in before if position(s) > shared.freed_at]
    flow, wanted = computing(since, names_read(root)), names_feeding(since, names_read(root))
    cost = "The second loss is computed with the weights that the step before it has changed."
    for chain in makers(made, wanted):
        head = first_reading(flow, bound_by(chain)) or shared.reached
        editor, where = Editor(shared.module), "again for the second backward"
        yield computed("recompute-loss", editor, chain, head, where, cost, rank, moved=False)
        for again in of_constants(editor, chain, made[: made.index(chain[0])], head, where):
            yield replace(again, strategy="recompute-loss", rank=rank)
        rank += 1


def _acts_between(shared: Shared) -> bool:
    """Return True if anything is done between the two backward calls that may change weights."""
    return any(
        isinstance(s, ast.AugAssign) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
        for s in statements_of(shared.scope)
        if shared.freed_at < position(s) < shared.reached_at
    )


def _read_between(scope: Scope, chain: Sequence[ast.stmt], head: ast.stmt) -> bool:
    """Return True if anything between the chain and the statement reads what the chain computes."""
    return any(node.lineno < head.lineno for node in other_reads(scope, chain, head))
