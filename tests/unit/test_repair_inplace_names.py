"""Other names of a tensor that is written to in place, and what a repair does with them."""

from __future__ import annotations

import pytest

from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.copy.outofplace import given_new, other_names
from analyzers.source.edits import apply
from analyzers.source.project import Module
from provenance import CodeLine


def where(body: str, line: int) -> SourceLocation:
    script = "def f(h, x):\n" + "".join(f"    {one}\n" for one in body.split("; "))
    module = Module("train.py", script)
    statement = module.statement_at(line)
    assert statement is not None
    return SourceLocation(module, statement, CodeLine("train.py", line))


@pytest.mark.parametrize(
    ("body", "line", "names"),
    [
        ("r = h; h += x; return h + r", 3, ["r"]),
        ("r = h; h.mul_(x); return h + r", 3, ["r"]),
        ("h = r = x.exp(); h += x; return h", 3, []),
        ("r = h; r = x; h += x; return h + r", 4, []),
        ("r = h; h = x; h += x; return h + r", 4, []),
        ("r = h; s = r; h += x; return h + r", 4, ["r"]),
        ("h = r; h += x; return h + r", 3, ["r"]),
        ("r = h.clone(); h += x; return h + r", 3, []),
        ("r = h; h += x; r = x; return h + r", 3, []),
        ("h += x; r = h; return h + r", 2, []),
    ],
)
def test_other_names_of_a_tensor_where_it_is_written_to(
    body: str, line: int, names: list[str]
) -> None:
    assert list(other_names(where(body, line), "h")) == names


def test_a_name_of_the_same_tensor_follows_it_or_keeps_the_old_value() -> None:
    spot = where("r = h; h += x; return h + r", 3)
    follows, keeps = given_new([(spot, {"h"})], "in place", 0)
    assert "    h = h + x\n    r = h\n" in apply(spot.module.text, follows.edits)
    assert "    h = h + x\n    return" in apply(spot.module.text, keeps.edits)
    assert follows.rank < keeps.rank


def test_where_there_is_no_other_name_there_is_one_repair() -> None:
    (only,) = given_new([(where("h += x; return h", 2), {"h"})], "in place", 0)
    assert only.title == "Give `h` a new tensor instead of writing in place"
