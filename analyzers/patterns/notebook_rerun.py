"""A cell that calls backward ran again, without the cell that computes the loss.

What happens: one cell of a notebook computes the loss, another calls `backward()`. The first run of
the second cell frees the graph. If that cell runs again (to train another step, or after a small
change), it needs the same graph and finds it freed. From top to bottom, the notebook raises no
error. In a session's exported history, the fault appears as a cell that occurs twice.

The fix: put the forward into the cell that calls backward. You can then run the cell repeatedly,
and each run computes the loss from the current weights.

When this fix is wrong: when the cell was not meant to run twice. Then restart the kernel, and run
the cells in order.

Broken::

    # In[4]:
    output = model(x)
    loss = criterion(output, y)

    # In[5]:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    # In[6]: the same cell, run again
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

Fixed::

    # In[5]:
    output = model(x)
    loss = criterion(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    # In[6]: the same cell, run again
    output = model(x)
    loss = criterion(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import CrossedBoundary, Match, Proposal
from analyzers.explain.reuse.describe import account, matched, story_in
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.repair.remake.moving import forward_into_cell, statements_in
from analyzers.source.cells import NotebookCell
from analyzers.source.project import Module, Project
from provenance import CodeLine

ID = "GM009"
NAME = "notebook-rerun"
FAMILY = "graph-reuse"
TITLE = "A cell ran again without the cell that builds its loss"
BEFORE = ("duplicate-backward",)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a cell whose second run calls backward on a graph that its first run freed.

    The cell is at the margin of the script.
    """
    story = story_of(evidence, project)
    shared = story.shared if story is not None else None
    if story is None or shared is None or shared.loops or not isinstance(shared.scope, ast.Module):
        return None
    freed = shared.module.cell_at(shared.freed_line)
    reached = shared.module.cell_at(shared.reached_line)
    if freed is None or reached is None or _made_in(story, freed, reached):
        return None
    if freed is reached:
        again = freed.label in project.rerun and shared.freed_line >= shared.reached_line
    else:
        again = _is_repeated(shared, freed, reached)
    if not again:
        return None
    found = matched(
        story, NAME, Certainty.CERTAIN, story.reuse.reached.at, freed=freed, reached=reached
    )
    place = CodeLine(shared.module.path, reached.first, shared.function)
    return replace(found, boundary=CrossedBoundary("cell", place))


def _made_in(story: ReuseFeatures, *cells: NotebookCell) -> bool:
    """Return True if the cell itself makes what it carries over, such as a state or a total."""
    module = story.shared.module if story.shared is not None else None
    return any(
        module is not None and carrier.place.file == module.path and carrier.place.line in cell
        for carrier in story.carriers[:1]
        for cell in cells
    )


def _is_repeated(shared: Shared, freed: NotebookCell, reached: NotebookCell) -> bool:
    """Return True if one cell is the other once more, perhaps with lines added.

    The same statement of both must have called backward.
    """
    if ast.dump(shared.freed) != ast.dump(shared.reached):
        return False
    first, second = _texts(shared.module, freed), _texts(shared.module, reached)
    return _holds(second, first) or _holds(first, second)


def _texts(module: Module, cell: NotebookCell) -> list[str]:
    return [ast.dump(statement) for statement in statements_in(module, cell)]


def _holds(longer: list[str], shorter: list[str]) -> bool:
    """Return True if the shorter list is a subsequence of the longer one."""
    rest = iter(longer)
    return all(text in rest for text in shorter)


def explain(match: Match, project: Project) -> str:
    """Explain which cell ran again, and which did not."""
    freed, reached = match.facts["freed"], match.facts["reached"]
    assert isinstance(freed, NotebookCell)
    assert isinstance(reached, NotebookCell)
    story = story_in(match)
    again = f"{freed.label} ran again" if freed == reached else f"{freed.label} is there again"
    if freed != reached:
        again += f" as {reached.label}"
    made = None
    if match.carrier is not None and story.shared is not None:
        made = story.shared.module.cell_at(match.carrier.place.line)
    builder = f"{made.label}, which makes it, did not" if made else "what makes it did not"
    return (
        f"{account(match, project)} {again[:1].upper()}{again[1:]}, and {builder}: "
        "with the forward in the same cell, each run has a graph of its own."
    )


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose to put the forward pass into the cell that calls backward on it."""
    cell = match.facts["reached"]
    assert isinstance(cell, NotebookCell)
    yield from forward_into_cell(story_in(match), cell)
