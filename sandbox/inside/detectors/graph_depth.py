"""Find lines whose backward calls reach ever more nodes, and ever further back."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

GROWTH = 4  # how often in a row something must grow


class GraphDepth:
    """The last backward calls of each line.

    For each: how many nodes it reached, and how many calls ago the oldest of them was made.
    """

    def __init__(self) -> None:
        self._rows: dict[Any, list[tuple[int, int]]] = defaultdict(list)

    def after(self, line: Any, nodes: int, reach: int) -> list[float]:
        """Return the numbers of nodes of the last calls if each had more than the one before.

        They must also reach further back; otherwise return an empty list.
        """
        row = self._rows[line]
        row.append((nodes, reach))
        del row[: -GROWTH - 1]
        grown = all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(row))
        return [float(n) for n, _ in row] if len(row) > GROWTH and grown else []

    def walks_more(self, line: Any) -> bool:
        """Return True if the backward calls of this line reach ever more nodes."""
        row = self._rows[line]
        return len(row) > 2 and row[-1][0] > row[0][0]
