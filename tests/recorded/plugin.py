"""Where pytest and the recordings meet: which test is running, what was replayed, what is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.reach import NEAREST, changed, is_traced, reached
from tests.recorded import findings, packs
from tests.recorded.digests import ROOT, probe_digest, tracer_digest, tree_digest
from tests.recorded.packs import Address
from tests.recorded.recorder import Recorder, Scope

NAME = "recordings"
INTEGRATION = ROOT / "tests/integration"


class Recordings:
    """One recorder a process; at the end, what the processes recorded is put together."""

    def __init__(self, config: pytest.Config) -> None:
        self.recorder = Recorder(config.getoption("runs"), config.getoption("keep_outdated"))
        self._worker = hasattr(config, "workerinput")
        self._config = config
        self._tally: Counter[str] = Counter()
        self._missing: set[str] = set()
        self._differing: list[str] = []
        self._asked: dict[Address, set[str]] = {}
        self._passed = False
        if self._distributed:
            for digest in (tracer_digest, probe_digest, tree_digest):
                digest()  # its workers need them all
        files = changed("HEAD~1") or []
        self._nearest = {ROOT / name for name in reached(files, NEAREST)}
        self._traced = is_traced(files)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fixtures may run jobs, too."""
        self._passed = False
        self.recorder.begin(replace(scope_of(item), nearest=self._is_nearest(item)))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Recordings of a test that failed are of no use."""
        if self._worker or not self._distributed:
            if report.when == "call":
                self._passed = report.passed
            elif report.when == "teardown":
                self.recorder.end(passed=self._passed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker counted."""
        reported = getattr(node, "workeroutput", {}).get(NAME)
        if reported is not None:
            self._add(*reported)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Pass on what was counted."""
        reported = (
            dict(self.recorder.tally),
            sorted(self.recorder.missing),
            self.recorder.differing,
            [(one.pack, one.member, sorted(keys)) for one, keys in self.recorder.asked.items()],
        )
        if self._worker:
            session.config.workeroutput[NAME] = reported  # type: ignore[attr-defined]
        else:
            self._add(*reported)
            if self._differing and not session.exitstatus:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        """Say what was replayed, and pack what was recorded."""
        tally, write = self._tally, terminalreporter.write_line
        if not tally.total():
            return
        terminalreporter.section("recorded runs")
        write(f"{tally['replayed']} runs were replayed, {tally['live']} were made")
        if tally["outdated"]:
            write(f"{tally['outdated']} more are recordings of another tracer: `make record`")
        if tally["compared"]:
            write(f"{tally['compared']} were compared with their recordings")
        for difference in self._differing:
            write(f"differs: {difference}")
        if self._missing:
            write("Not recorded, and made live (`make record`):")
            for name in sorted(self._missing):
                write(f"  {name}")
        if self.recorder.mode != "recorded":
            write(f"{packs.gather()} members were recorded")
            if self._config.getoption("prune") and not exitstatus:  # all were asked for
                write(f"{packs.prune(self._asked)} runs are asked for no longer, and were removed")
            for name in findings.gather():
                write(f"changed findings: {name}")

    def _is_nearest(self, item: pytest.Item) -> bool:
        """Whether the test holds what has changed in the tracer."""
        alone = "traced" in getattr(item, "fixturenames", ()) and item.path.parent == INTEGRATION
        return item.path in self._nearest or (self._traced and alone)

    @property
    def _distributed(self) -> bool:
        return self._config.getoption("dist", "no") != "no" and not self._worker

    def _add(
        self,
        tally: dict[str, int],
        missing: list[str],
        differing: list[str],
        asked: list[tuple[str, str, list[str]]],
    ) -> None:
        self._tally.update(tally)
        self._missing.update(missing)
        self._differing += differing
        for pack, member, keys in asked:
            self._asked.setdefault(Address(pack, member), set()).update(keys)


def scope_of(item: pytest.Item) -> Scope:
    """Return where the runs of a test are recorded: with those of the tests that run in one process
    with it, which are those of a case or of a file."""
    mark = item.get_closest_marker("xdist_group")
    group = str(mark.args[0]) if mark is not None else str(item.path)
    folder = item.path.parent.name
    if group == str(item.path):
        return Scope(Address(folder, item.path.stem.removeprefix("test_")))
    above, _, name = group.rpartition("/")
    return Scope(Address(f"{folder}/{above}" if above else folder, name))
