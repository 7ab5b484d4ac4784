"""The fix for a cell that is run again: what it walks is computed in the cell itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.remake.chains import chains_of, read_between
from analyzers.repair.remake.makers import draws, told
from analyzers.repair.rewrite import copy_into, move_into
from analyzers.source.cells import Cell
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, called_name, names_read
from analyzers.source.project import Module, Project


def forward_into_cell(story: Story, cell: Cell) -> Iterator[Proposal]:
    """Move (or, where its values are read before, copy) into the cell what makes the carrier."""
    if story.shared is None:
        return
    module = story.shared.module
    inside = statements_in(module, cell)
    if not inside:
        return
    names = {carrier.name for carrier in story.carriers} | story.root_names
    names -= {name for statement in inside for name in bindings(statement)}
    before = _behind_the_making(story, module, inside[0])
    for rank, chain in enumerate(chains_of(module, module.tree, before, names)):
        head = _entry(inside, chain)
        editor = Editor(module)
        alone = not read_between(module.tree, chain, head)
        random = _is_random(story.project, chain)
        yield Proposal(
            "forward-into-cell",
            f"Compute {told(chain)} in {cell.label}, which calls its backward",
            (move_into if alone else copy_into)(editor, chain, head),
            "Each run draws its random numbers anew." if random else "",
            rank,
        )


def statements_in(module: Module, cell: Cell) -> list[ast.stmt]:
    """The statements at the margin of the script that begin in the cell."""
    return [statement for statement in module.tree.body if statement.lineno in cell]


def _behind_the_making(story: Story, module: Module, head: ast.stmt) -> ast.stmt:
    """The statement behind the one that made the carriers, as the run (or the reading) saw it:
    what comes later, up to the cell, may never have run."""
    made = [carrier.place.line for carrier in story.carriers if carrier.place.file == module.path]
    last = max((line for line in made if line < head.lineno), default=head.lineno)
    return next((s for s in module.tree.body if last < s.lineno <= head.lineno), head)


def _entry(inside: Sequence[ast.stmt], chain: Sequence[ast.stmt]) -> ast.stmt:
    """The statement of the cell in front of which the chain goes: the first, or behind what the
    cell makes for the chain, as long as nothing reads the chain's values before."""
    made = {name for statement in chain for name in bindings(statement)}
    needed = {name for statement in chain for name in names_read(statement)} - made
    head = inside[0]
    for statement, following in pairwise(inside):
        if names_read(statement) & made:
            break
        if set(bindings(statement)) & needed:
            head = following
    return head


def _is_random(project: Project, chain: Sequence[ast.stmt]) -> bool:
    """Whether a second forward gives other numbers: it draws some, or drops some out."""
    return draws(chain) or any(
        "dropout" in called_name(call).lower() for _, call in project.each(ast.Call)
    )
