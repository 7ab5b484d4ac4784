"""Spell the paths of carriers, and ask whether a loop renews them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from analyzers.source.flow import bound_within, first_use
from analyzers.source.project import Loop
from analyzers.source.trees import remembered
from provenance import StaleEdge

ENTRIES = re.compile(r"\.(\d+)(?=\.)")  # a module's entries, as its parameters are called
_SUBSCRIPTS = re.compile(r"(\[[^\[\]]*\])+$")


def base(path: str) -> str:
    """Return the whole structure that a path leads into: `hidden` for `hidden[0]`."""
    return _SUBSCRIPTS.sub("", path)


@remembered
def attributes_bound(tree: ast.Module) -> set[str]:
    """Return the names of all attributes that a file binds."""
    paths = (name.partition("[")[0] for name in bound_within(tree))
    return {path.rpartition(".")[2] for path in paths if "." in path}


def last(path: str) -> str:
    return path.rpartition(".")[2]


def depth(path: str) -> int:
    return path.count(".") + path.count("[")


def renewed(loop: Loop, name: str) -> bool:
    """Return True if each iteration of the loop rebinds the name before anything reads it."""
    return first_use(loop.body, name) == "bound"


def named_first(edges: Sequence[StaleEdge]) -> list[StaleEdge]:
    """Return the stale edges; those last that only lead to a freed tensor which another one has
    under its own name: `mel(fake)` next to `fake`.
    """
    freed = {edge.old.number for edge in edges if edge.holders and _is_freed(edge)}
    behind = [e for e in edges if e.raising and not _is_freed(e) and e.raising.number in freed]
    return [*(edge for edge in edges if edge not in behind), *behind]


def _is_freed(edge: StaleEdge) -> bool:
    """Return True if the first backward call freed the old tensor's own node."""
    return edge.raising is not None and edge.old.number == edge.raising.number
