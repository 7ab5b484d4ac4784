"""Recordings replay what was recorded, by the same tracer, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.schemas import Findings, RunReport
from sandbox.protocol import Job, RunResult, Session
from tests.recorded import findings, packs
from tests.recorded.box import RecordedSession
from tests.recorded.describing import described
from tests.recorded.digests import tracer_digest
from tests.recorded.findings import Kept, Recorded
from tests.recorded.packs import Address, Run
from tests.recorded.recorder import Mode, Recorder, Scope
from tests.recorded.results import answer_of, differences, key_of

JOB = Job(files={"train.py": "print(1)"})
ADDRESS = Address("corpus/recurrent_state", "lstm")


class Counted(Session):
    """A sandbox whose runs take another time each."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, job: Job) -> RunResult:
        self.runs += 1
        return RunResult(status="finished", stdout_tail=job.entry, duration_s=0.3 * self.runs)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACKS", tmp_path / "packs")
    monkeypatch.setattr(packs, "LOOSE", tmp_path / "loose")
    monkeypatch.setattr(findings, "KEPT", tmp_path / "findings")
    monkeypatch.setattr(findings, "LOOSE", tmp_path / "loose findings")
    packs._opened.cache_clear()


def recorder(mode: Mode) -> Recorder:
    made = Recorder(mode)
    made.begin(Scope(ADDRESS))
    return made


async def test_a_job_is_run_once_and_replayed_from_its_pack() -> None:
    real, recording = Counted(), recorder("record")
    first = await RecordedSession(real, recording).run(JOB)
    recording.end(passed=True)
    packs.gather()
    replaying = recorder("recorded")
    limited = JOB.model_copy(update={"time_limit_s": 3.0})
    assert await RecordedSession(real, replaying).run(limited) == first
    assert real.runs == 1
    assert packs.addresses() == [ADDRESS]
    assert not replaying.missing


async def test_a_job_that_is_not_recorded_is_run_and_reported() -> None:
    real, replaying = Counted(), recorder("recorded")
    other = JOB.model_copy(update={"frozen_steps": True})
    assert (await RecordedSession(real, replaying).run(other)).status == "finished"
    assert (real.runs, replaying.missing) == (1, {str(ADDRESS)})


async def test_a_job_that_a_test_runs_twice_has_two_recordings() -> None:
    real, recording = Counted(), recorder("record")
    session = RecordedSession(real, recording)
    both = [await session.run(JOB), await session.run(JOB)]
    recording.end(passed=True)
    replaying = RecordedSession(real, recorder("recorded"))
    assert [await replaying.run(JOB), await replaying.run(JOB)] == both
    assert real.runs == 2


async def test_what_a_failed_test_ran_is_not_recorded() -> None:
    real, recording = Counted(), recorder("record")
    await RecordedSession(real, recording).run(JOB)
    recording.end(passed=False)
    assert packs.load(ADDRESS) == {}


async def test_a_recording_of_another_tracer_is_replayed_and_renewed() -> None:
    packs.save(ADDRESS, {key_of(JOB): Run({}, {"status": "raised"}, "another tracer")})
    replaying = recorder("recorded")
    assert (await RecordedSession(Counted(), replaying).run(JOB)).status == "raised"
    assert replaying.tally["outdated"] == 1
    nearest = recorder("recorded")
    nearest.begin(Scope(ADDRESS, nearest=True))
    assert (await RecordedSession(Counted(), nearest).run(JOB)).status == "finished"
    assert not nearest.missing
    renewing = recorder("record")
    assert (await RecordedSession(Counted(), renewing).run(JOB)).status == "finished"


async def test_live_runs_are_compared_with_their_recording() -> None:
    packs.save(ADDRESS, {key_of(JOB): Run({}, {"status": "raised"}, "any")})
    live = recorder("live")
    assert (await RecordedSession(Counted(), live).run(JOB)).duration_s == 0.3
    assert len(live.differing) == 1
    assert ".status" in live.differing[0]


@pytest.mark.parametrize(("status", "current"), [("finished", True), ("raised", False)])
async def test_a_recording_with_which_a_live_run_agrees_is_current_again(
    status: str, *, current: bool
) -> None:
    before = Run({}, {"status": status, "duration_s": 9.0}, "another tracer")
    packs.save(ADDRESS, {key_of(JOB): before})
    live = recorder("live")
    await RecordedSession(Counted(), live).run(JOB)
    live.end(passed=True)
    after = packs.load(ADDRESS)[key_of(JOB)]
    assert after.answer == before.answer
    assert after.made_by == (tracer_digest() if current else "another tracer")


def test_what_was_measured_of_the_machine_is_not_recorded() -> None:
    slow = RunResult(status="finished", duration_s=1.9, waited_s=0.2, peak_memory_mib=300.0)
    assert answer_of(slow) == {"status": "finished", "duration_s": 2.0}


def test_an_entry_of_a_list_counts_unless_time_ended_the_run() -> None:
    short = {"status": "finished", "trace": {"steps": [1.0]}}
    long = {"status": "finished", "trace": {"steps": [1.0 + 1e-9, 2.0]}}
    assert differences(short, long) == [".trace.steps: 2 instead of 1"]
    assert differences({**short, "status": "timed_out"}, long) == []
    ended, other = ({"status": "stopped", "trace": {"steps": [n, 3.0, 4.0]}} for n in (1.0, 3.0))
    assert differences(ended, long) == []  # the last of each says where its run was stopped
    assert differences(other, long) != []


def test_findings_count_calls_unless_that_depends_on_the_machine() -> None:
    ended, stopped = (
        RunReport(status="ran_clean", backward_calls=60, stopped=s) for s in (False, True)
    )
    texts = [described(Findings(verdict="healthy", run=run)) for run in (ended, stopped)]
    assert ["60 backward calls" in text for text in texts] == [True, False]


def test_a_line_of_a_library_may_move_and_its_function_may_not() -> None:
    one, moved, other = (
        {"trace": {"library": f"torch/nn/{place}"}}
        for place in ("rnn.py:5 in LSTM.forward", "rnn.py:9 in LSTM.forward", "rnn.py:5 in f")
    )
    assert differences(one, moved) == []
    assert differences(one, other) != []


def test_a_cell_has_another_name_in_each_run() -> None:
    one, later, other = (
        {"last": {"file": f"<ipython-input-{n}-{digest}>"}}
        for n, digest in ((7, "309d7eacb60eff02"), (7, "e310176e471d900b"), (8, "309d7eacb60eff02"))
    )
    assert differences(one, later) == []
    assert differences(one, other) != []


def test_a_line_of_the_probe_may_move_and_one_of_the_script_may_not() -> None:
    one, moved, other = (
        {"lines": [["train.py", line], ["probe.py", probe]]}
        for line, probe in ((5, 278), (5, 279), (6, 278))
    )
    assert differences(one, moved) == []
    assert differences(one, other) != []


def test_other_findings_fail_with_the_difference_and_are_renewed() -> None:
    kept = Kept("failing/a", "a/one")
    Recorded(recorder("record"), kept).check("cause: x\n  line 3")
    assert findings.gather() == ["failing/a: a/one"]
    on_record = Recorded(recorder("recorded"), kept)
    on_record.check("cause: x\n  line 3")
    with pytest.raises(AssertionError, match=r"\+cause: y"):
        on_record.check("cause: y\n  line 3")
