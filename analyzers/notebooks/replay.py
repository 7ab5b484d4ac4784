"""In which order the cells of a notebook were run, as far as their execution counts tell."""

from __future__ import annotations

from analyzers.notebooks.notebook import LineMap

MAX_RUNS = 4  # of one cell: a long gap in the counts says no more than a short one


def replays(lines: LineMap, failing: int | None) -> list[tuple[int, ...]]:
    """Return orders of cells, by number, that may show an error which a run in file order does not.

    They are the order of the execution counts, and that with the failing cell run once more.
    `failing` is the cell that the error names, if it is known.
    """
    found = [by_counts(lines)]
    if failing is not None:
        found.append((*lines.cells, failing))
    return [
        order for n, order in enumerate(found) if order != lines.cells and order not in found[:n]
    ]


def by_counts(lines: LineMap) -> tuple[int, ...]:
    """Return cells in the order of their counts.

    A count that no cell has now was an earlier run: first of the cells further up that were run
    again later, then of the cell that comes next. Cells without a count did not run and are left
    out; if no cell has a count, all are returned in file order.
    """
    counted = [
        (count, cell)
        for cell, count in zip(lines.cells, lines.counts, strict=True)
        if count is not None
    ]
    order: list[int] = []
    last = 0
    for count, cell in sorted(counted):
        gap = count - last - 1
        again = [up for _, up in counted if up < cell and up not in order][: max(gap, 0)]
        order += again
        order += [cell] * min(max(gap - len(again), 0), MAX_RUNS - 1)
        order.append(cell)
        last = count
    return tuple(order) or lines.cells


def extra_runs(order: tuple[int, ...], lines: LineMap) -> list[tuple[int, int]]:
    """Return what an order runs besides each cell once, as spans of lines of the script."""
    once = set(lines.cells)
    extra: list[tuple[int, int]] = []
    for cell in order:
        if cell in once:
            once.remove(cell)
        else:
            extra.append(lines.span(cell))
    return extra


def repeated(order: tuple[int, ...]) -> frozenset[str]:
    """Return the labels of the cells that an order runs more than once."""
    return frozenset(f"cell {cell}" for cell in order if order.count(cell) > 1)
