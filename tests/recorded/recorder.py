"""What a test's runs gave when they were recorded, or give now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.recorded import packs
from tests.recorded.packs import Address, Member, Run
from tests.recorded.results import differences

Mode = Literal["recorded", "live", "record"]


@dataclass(frozen=True)
class Scope:
    """The test that is running. `nearest`: it holds what has changed in the tracer, so that
    recordings of another one say nothing."""

    address: Address
    nearest: bool = False


@dataclass
class Recorder:
    """Answers from recordings in two of its modes; `record` keeps what is missing or outdated,
    `live` answers nothing, and gives recordings with which its runs agree the tracer's new digest.

    `tally` counts runs: `replayed`, `outdated` (replayed, made by another tracer), `live`.
    `missing` names the tests that asked for a run which is not recorded; `differing` says in what a
    live run differs from its recording. `crowded`: a run of this test timed out while it waited for
    a processor, so that its recording would show the machine rather than the script.
    """

    mode: Mode = "recorded"
    keep_outdated: bool = False
    tally: Counter[str] = field(default_factory=Counter)
    missing: set[str] = field(default_factory=set)
    differing: list[str] = field(default_factory=list)
    asked: dict[Address, set[str]] = field(default_factory=dict)
    crowded: bool = False
    _scope: Scope | None = None
    _members: dict[Address, Member] = field(default_factory=dict)
    _new: Member = field(default_factory=dict)
    _turns: Counter[str] = field(default_factory=Counter)

    def begin(self, scope: Scope) -> None:
        """Answer from the recordings of another test from now on."""
        if scope.address not in self._members:
            self._members.clear()  # tests of one case mostly follow each other
        self._scope = scope
        self._new, self.crowded = {}, False
        self._turns.clear()

    def end(self, *, passed: bool) -> None:
        """Keep what is to be recorded, if the test passed."""
        if (
            self.mode != "recorded"
            and self._scope is not None
            and passed
            and self._new
            and not self.crowded
        ):
            member = self._loaded(self._scope.address)
            member |= self._new
            packs.save(self._scope.address, member)
        self._new = {}

    def turn(self, digest: str) -> str:
        """Return the key of a test's next run of a request: one that is made twice, to see whether
        it repeats itself, has two recordings."""
        self._turns[digest] += 1
        turn = self._turns[digest]
        return digest if turn == 1 else f"{digest}#{turn}"

    def recall(self, key: str, made_by: str) -> dict[str, Any] | None:
        """Return the recorded answer; None if there is none, or it is to be renewed. One of another
        tracer is replayed, too, unless the test is one of those that hold what changed."""
        if self.mode == "live" or self._scope is None:
            return None
        self.asked.setdefault(self._scope.address, set()).add(key)
        run = self._new.get(key) or self._loaded(self._scope.address).get(key)
        current = run is not None and run.made_by == made_by
        replayed = self.mode == "recorded" and not self._scope.nearest
        if run is None or not (current or replayed or self.keep_outdated):
            return None
        self.tally["replayed" if current else "outdated"] += 1
        return run.answer

    def keep(self, key: str, run: Run) -> None:
        """Note a run that was made now."""
        self.tally["live"] += 1
        if self._scope is None:
            return
        if self.mode == "live":
            self._compare(key, run, self._scope.address)
        else:
            self._new[key] = run
        if self.mode == "recorded" and key not in self._loaded(self._scope.address):
            self.missing.add(str(self._scope.address))

    def _compare(self, key: str, run: Run, address: Address) -> None:
        recorded = self._loaded(address).get(key)
        if recorded is not None:
            self.tally["compared"] += 1
            found = differences(recorded.answer, run.answer)
            self.differing += [f"{address}: {key}{difference}" for difference in found]
            if not found and recorded.made_by != run.made_by:
                self._new[key] = replace(recorded, made_by=run.made_by)

    def _loaded(self, address: Address) -> Member:
        if address not in self._members:
            self._members[address] = packs.load(address)
        return self._members[address]
