"""What the rows of `benchmarks/first_contact.md` come to: the figures that the README shows first.

    python -m benchmarks.totals

Batches from 60 on are counted: those before were written when much less could be made up and run.
Of shares that are written as percents the counts are told again by how many items there were.
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
    """The rows of batches that count, as they stand."""
    found = []
    for line in text.splitlines():
        if (match := _ROW.match(line)) and int(match[1]) >= SINCE:
            _, _, _, kind, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
            found.append(Row(int(match[1]), kind, tuple(cells)))
    return found


def report(found: Sequence[Row]) -> Iterator[str]:
    """The README's rows, a line each, and then its sentences."""

    def of(kind: str) -> list[Row]:
        return [row for row in found if row.kind == kind]

    scripts, read, fragments, projects = map(of, (_RUNNING, _READING, _FRAGMENTS, _PROJECTS))
    for named, part in ((_last, slice(-1, None)), (_before, slice(None, -1))):
        yield _line(f"whole scripts, run: {named(scripts[part])}", scripts[part])
        yield _line("only read", read[part])
    yield _line(f"fragments as pasted: {_last(fragments)}", fragments[-1:], " tested")
    yield _line(_before(fragments[:-1]), fragments[:-1], " tested")
    name = f"projects without their packages, data or arguments ({_span(projects)})"
    yield _line(name, projects, " tested")
    silent, pasted = of(_SILENT), of(_HEALTHY)
    yield ""
    yield (
        f"Of the first patches of these {_sum(scripts, 0)} scripts "
        f"{sum(row.right(3) for row in scripts)} are right, and {_sum(scripts, 4)} passed and "
        f"train something else; {_sum(silent, 1)} of their {_sum(silent, 0)} silent faults were "
        f"called healthy."
    )
    yield (
        f"Of their {_sum(scripts, 5)} healthy scripts {_sum(scripts, 6)} were blamed, and of "
        f"{_sum(pasted, 0)} healthy things that were pasted {_sum(pasted, 5)}; by reading alone "
        f"{_sum(read, 6)} of the scripts."
    )


def _line(name: str, some: Sequence[Row], tested: str = "") -> str:
    n = _sum(some, 0)
    shares = [f"{sum(row.right(column) for row in some) / n:.0%}" for column in (1, 2, 3)]
    return f"| {name} | {n} | {' | '.join(shares)}{tested} |"


def _last(some: Sequence[Row]) -> str:
    return f"the last batch ({some[-1].batch})"


def _before(some: Sequence[Row]) -> str:
    return f"the {len(some)} before ({_span(some)})"


def _span(some: Sequence[Row]) -> str:
    numbers = [row.batch for row in some]
    return f"{min(numbers)} to {max(numbers)}"


def _sum(some: Sequence[Row], column: int) -> int:
    return sum(_number(row.cells[column]) for row in some)


def _number(cell: str) -> int:
    found = re.match(r"\d+", cell)
    return int(found[0]) if found else 0


def main() -> None:
    """Print them."""
    print(*report(rows(RECORD.read_text())), sep="\n")


if __name__ == "__main__":
    main()
