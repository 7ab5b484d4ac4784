"""Which tests `make test` begins with, and which it leaves to other trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import tiers
from tests.recorded.digests import digest_of

TREES = [f"tree {number}" for number in range(64)]


@dataclass(frozen=True)
class Item:
    """A collected test, as far as the tiers look at it."""

    path: Path
    marks: tuple[pytest.Mark, ...] = ()
    nodeid: str = "tests/test_it.py::test"

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)


def turns(item: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Whether it runs, in each tree."""
    for tree in TREES:
        monkeypatch.setattr(tiers, "in_turn", lambda name, tree=tree: digest_of([tree, name]))
        yield not tiers._is_out_of_turn(item)


@pytest.mark.parametrize(
    ("marks", "least", "most"),
    [
        ((), 64, 64),
        ((pytest.mark.rotating(1).mark,), 64, 64),
        ((pytest.mark.rotating(4).mark,), 8, 24),
        ((pytest.mark.rotating.mark,), 3, 13),
    ],
    ids=["not rotating", "each time", "a quarter", "an eighth"],
)
def test_each_has_its_turn(
    marks: tuple[pytest.Mark, ...], least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert least <= sum(turns(Item(Path("test_it.py"), marks), monkeypatch)) <= most


def test_what_starts_programs_comes_first_and_cases_last() -> None:
    slow = Item(Path("test_programs.py"), (pytest.mark.rotating.mark,))
    files = [Item(Path("test_large.py"))] * 3 + [Item(Path("test_small.py"))]
    cases = [Item(Path("test_corpus.py"), (pytest.mark.xdist_group("lstm/case").mark,))] * 4
    marks = (pytest.mark.rotating.mark, pytest.mark.xdist_group("browser").mark)
    pages = [Item(Path("test_pages.py"), marks)] * 2
    items: list[Any] = [*cases, files[-1], *files[:-1], slow, *pages]
    tiers._put_slow_groups_first(items)
    assert items == [*pages, slow, *files, *cases]


@pytest.mark.parametrize(("passed", "ended"), [(["test_it"], 0), ([], 5)])
def test_a_tree_in_which_all_has_passed_is_in_order(
    passed: list[str], ended: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "PASSED", tmp_path)
    monkeypatch.setattr(tiers, "tree_digest", lambda: "tree")
    (tmp_path / "tree").write_text("".join(f"{name}\n" for name in passed))
    given = {"go_on": True, "part": "1/1", "runs": "live"}
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    config: Any = SimpleNamespace(getoption=given.get, hook=hook)
    chosen = tiers.Tiers(config)
    items: list[Any] = [Item(Path("test_it.py"), (), name) for name in passed]
    chosen.pytest_collection_modifyitems(config, items)
    session: Any = SimpleNamespace(exitstatus=5)
    chosen.pytest_sessionfinish(session, 5)
    assert (items, session.exitstatus) == ([], ended)
