"""Totals of the rows of `benchmarks/first_contact.md`: the README's figures.

    python -m benchmarks.totals

Batches from 60 on count: when the earlier ones were measured, the harness could synthesize and run
much less. Where a row holds a percentage only, its count is computed from the number of items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).with_name("first_contact.md")
SINCE = 60  # the first batch that counts
_RUNNING, _READING = "running", "reading"
_FRAGMENTS, _PROJECTS, _HEALTHY, _SILENT = "fragments", "projects", "healthy", "silent"
_ROW = re.compile(r"\| batch(\d+) \|")
LOTS_SINCE = "K"  # the first lot of public threads that counts
_LOT = re.compile(r"Lot ([A-Z]{1,2}),")


@dataclass(frozen=True)
class Row:
    """One row: of which batch, of what, and its cells behind that."""

    batch: int
    kind: str
    cells: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many items were asked."""
        return _number(self.cells[0])

    def right(self, column: int) -> int:
        """How many were right, of `12/14 86%` or of `86%`."""
        cell = self.cells[column]
        return _number(cell) if "/" in cell else round(self.n * _number(cell) / 100)


def rows(text: str) -> list[Row]:
    """Return the rows of the batches that count."""
    found = []
    for line in text.splitlines():
        if (match := _ROW.match(line)) and int(match[1]) >= SINCE:
            _, _, _, kind, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
            found.append(Row(int(match[1]), kind, tuple(cells)))
    return found


def report(found: Sequence[Row]) -> Iterator[str]:
    """Yield the rows of the README's table, a line each, and then the sentences of the page on
    accuracy."""

    def of(kind: str) -> list[Row]:
        return [row for row in found if row.kind == kind]

    scripts, read, fragments, projects = map(of, (_RUNNING, _READING, _FRAGMENTS, _PROJECTS))
    yield _line("whole scripts, run", scripts)
    yield _line("whole scripts, only read", read)
    yield _line("pasted fragments", fragments, " tested")
    yield _line("incomplete projects", projects, " tested")
    silent, pasted = of(_SILENT), of(_HEALTHY)
    yield ""
    yield (
        f"Of the first patches for these {_sum(scripts, 0)} scripts, "
        f"{sum(row.right(3) for row in scripts)} are right; {_sum(scripts, 4)} passed the checks "
        f"but train something else. Gradmend called {_sum(silent, 1)} of the {_sum(silent, 0)} "
        f"silent faults healthy."
    )
    yield (
        f"It blamed {_sum(scripts, 6)} of {_sum(scripts, 5)} healthy scripts when it ran them, and "
        f"{_sum(read, 6)} when it only read them. It blamed {_sum(pasted, 5)} of "
        f"{_sum(pasted, 0)} healthy pasted texts."
    )


def threads(text: str) -> Iterator[str]:
    """Yield the README's sentence about public threads: how many of the last lots were right."""
    lots: dict[str, list[str]] = {}
    lot = ""
    for line in text.splitlines():
        lot = found[1] if (found := _LOT.match(line)) else lot
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        row = line.startswith("|") and cells[0] not in ("thread", "---")
        if row and _order(lot) >= _order(LOTS_SINCE):
            lots.setdefault(lot, []).append(cells[3])
    answers = [answer for rows_of in lots.values() for answer in rows_of]
    yield (
        f"Public threads are harder: of the last {len(answers)}, pasted unedited, "
        f"{sum(answer.startswith('right') for answer in answers)} got the right answer "
        f"(lots {min(lots, key=_order)} to {max(lots, key=_order)})."
    )


def _order(lot: str) -> tuple[int, str]:
    """Where a lot's letters stand: AA follows Z."""
    return len(lot), lot


def _line(name: str, some: Sequence[Row], tested: str = "") -> str:
    n = _sum(some, 0)
    shares = [f"{sum(row.right(column) for row in some) / n:.0%}" for column in (1, 2, 3)]
    return f"| {name} ({_span(some)}) | {n} | {' | '.join(shares)}{tested} |"


def _span(some: Sequence[Row]) -> str:
    numbers = [row.batch for row in some]
    return f"{min(numbers)} to {max(numbers)}"


def _sum(some: Sequence[Row], column: int) -> int:
    return sum(_number(row.cells[column]) for row in some)


def _number(cell: str) -> int:
    found = re.match(r"\d+", cell)
    return int(found[0]) if found else 0


def main() -> None:
    """Print the report."""
    text = RECORD.read_text()
    print(*report(rows(text)), "", *threads(text), sep="\n")


if __name__ == "__main__":
    main()
