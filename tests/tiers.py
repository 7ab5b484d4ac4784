"""Which tests a command runs: a part of all, what has not passed in this tree, as long as time is.

`make test`, `make test-all` and `make record` are the commands; the README says what they do.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.digests import ROOT, digest_of, in_turn, tree_digest
from tests.recorded.findings import kept_of

NEW = 30  # cases that are not recorded run live in `make test`: more take minutes
ROTATION = 8  # trees in which a test that is marked `rotating` has one turn; `rotating(2)`: two
PASSED = ROOT / ".cache/passed"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the commands in the Makefile."""
    group = parser.getgroup("tiers")
    modes = ["recorded", "live", "record"]
    group.addoption("--runs", choices=modes, default="recorded", help="replay runs, make or record")
    group.addoption("--keep-outdated", action="store_true", help="renew findings, not all runs")
    group.addoption("--prune", action="store_true", help="drop recordings that nothing asks for")
    group.addoption("--part", default="1/1", help="3/8: the third of eight parts of the tests")
    group.addoption("--go-on", action="store_true", help="leave out what passed in this very tree")
    group.addoption("--rotate", action="store_true", help="of what is marked `rotating`, its turn")
    group.addoption("--shuffled", action="store_true", help="in an order of this tree's own")
    group.addoption("--within", type=float, help="begin no test after so many seconds")


class Tiers:
    """Selects by part and by what passed; remembers what passes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker = hasattr(config, "workerinput")
        self._began = time.monotonic()
        self._seconds: float | None = config.getoption("within")
        self._left = 0
        self._done = 0
        digest = tree_digest() if config.getoption("go_on") else ""
        self._file = PASSED / digest if digest else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out other parts, what passed, and, where all is live, the live sample of it."""
        passed = _lines(self._file)
        unrecorded = set(_unrecorded(items)[NEW:]) if config.getoption("rotate") else set()
        self._left = len(unrecorded)
        self._done = sum(_is_in(passed, item) for item in items)
        live = config.getoption("runs") == "live"
        kept = [
            item
            for item in items
            if self._in_part(item)
            and not _is_in(passed, item)
            and not (live and item.get_closest_marker("sample"))
            and not (config.getoption("rotate") and _is_out_of_turn(item))
            and item not in unrecorded
        ]
        if len(kept) < len(items):
            chosen = set(kept)
            config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept
        if config.getoption("shuffled"):
            items.sort(key=lambda item: in_turn(_group(item)))
        else:
            _put_slow_groups_first(items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker left out."""
        self._done = max(self._done, getattr(node, "workeroutput", {}).get("done", 0))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Where all has passed before, nothing is wrong with running nothing."""
        if self._worker:
            session.config.workeroutput["done"] = self._done  # type: ignore[attr-defined]
        elif self._done and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out: what passed before, and for want of a recording."""
        if self._done:
            terminalreporter.write_line(
                f"{self._done} passed before in this tree, and were left out"
            )
        if self._left:
            reported = f"{self._left} cases are not recorded, and were left to `make record`"
            terminalreporter.write_line(reported)

    def pytest_runtest_setup(self) -> None:
        """Stop beginning tests when time is up."""
        if self._seconds is not None and time.monotonic() - self._began > self._seconds:
            pytest.skip("no time was left for it")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what passed."""
        if report.when == "call" and report.passed and self._file and not self._worker:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.write(report.nodeid.partition("@")[0] + "\n")

    def _in_part(self, item: pytest.Item) -> bool:
        number, _, parts = self._config.getoption("part").partition("/")
        return int(digest_of(_group(item)), 16) % int(parts) == int(number) - 1


def _is_in(passed: set[str], item: pytest.Item) -> bool:
    return item.nodeid.partition("@")[0] in passed


def _group(item: pytest.Item) -> str:
    """Tests of a group share what is dear to make; the same on every machine."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0] if mark is not None else item.path).removeprefix(str(ROOT))


def _put_slow_groups_first(items: list[pytest.Item]) -> None:
    """Sort groups that start programs or pages to the front, among them folders of many files, then
    other files, then cases, each by size: a slow group that began last would leave the other
    processors without work."""
    sizes = Counter(map(_group, items))
    slow = {_group(item) for item in items if item.get_closest_marker("rotating") is not None}

    def place(item: pytest.Item) -> tuple[bool, bool, int, str]:
        group = _group(item)
        return group not in slow, not (group in slow or group.endswith(".py")), -sizes[group], group

    items.sort(key=place)


def _is_out_of_turn(item: pytest.Item) -> bool:
    """Whether a test that starts programs or pages waits for another tree. The live tier, and what
    a commit reaches, are never left out."""
    mark = item.get_closest_marker("rotating")
    if mark is None:
        return False
    trees = mark.args[0] if mark.args else ROTATION
    return int(in_turn(item.nodeid.partition("@")[0]), 16) % trees > 0


def _unrecorded(items: list[pytest.Item]) -> list[pytest.Item]:
    """Tests whose findings are not on record, in the order of this tree."""
    kept = {item: kept_of(item) for item in items}
    new = [item for item, one in kept.items() if one is not None and one.text is None]
    return sorted(new, key=lambda item: in_turn(item.nodeid.partition("@")[0]))


def _lines(file: Path | None) -> set[str]:
    return set(file.read_text().splitlines()) if file is not None and file.is_file() else set()
