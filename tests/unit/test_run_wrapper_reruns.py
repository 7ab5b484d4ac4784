"""Repeated runs: how long they may take, and what is compiled in them."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.diagnose import NoProgress
from gradmend.run_wrapper import rerun
from gradmend.run_wrapper.diagnosing import findings_of, seen_in
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process
from gradmend.run_wrapper.rerun import Again
from gradmend.run_wrapper.starting import Turns, furnish, runs_at_once
from sandbox.inside.attached.warm import _settings
from sandbox.inside.core.clock import CLOCK
from sandbox.inside.core.engine import Calls
from sandbox.inside.core.follow_limit import FollowLimit
from sandbox.protocol import Job, RunResult
from sandbox.records import Silent, Trace
from tests.run_wrapper import ONE_FILE


async def test_no_run_begins_once_the_time_is_up() -> None:
    session = Again(["false"], Process(1), None, {}, most_s=0.0)
    try:
        result = await session.run(Job(files={}))
    finally:
        await session.close()
    assert result.status == "unavailable"
    assert session.runs == 0
    (trouble,) = session.troubles
    assert "--patient" in trouble


@pytest.mark.parametrize("shown", [(), (Silent(t="silent", kind="retained-graphs"),)])
async def test_fixes_get_their_time_once_a_fault_is_seen(
    monkeypatch: pytest.MonkeyPatch, shown: tuple[Silent, ...]
) -> None:
    session = Again(["false"], Process(1), None, {}, most_s=1.0, found_s=60.0)

    async def made(job: Job) -> RunResult:
        return RunResult(status="finished", trace=Trace(silent=[*shown]))

    monkeypatch.setattr(session, "_again", made)
    try:
        await session.run(Job(files={}))
        session._begun -= 30.0
        later = await session.run(Job(files={}))
    finally:
        await session.close()
    assert later.status == ("finished" if shown else "unavailable")


async def test_ctrl_c_while_a_warm_interpreter_ends_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search may be ending one to replace it, and must not go on with a fresh run."""
    monkeypatch.setattr(rerun, "can_be_warm", lambda first: True)
    session = Again(["sleep", "60"], Process(1), None, {})
    session.begin()
    closing = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await session.close()


@pytest.mark.parametrize("eager", [True, False])
def test_a_traced_run_of_a_compiled_program_is_not_compiled(tmp_path: Path, *, eager: bool) -> None:
    box = ExchangeDir({}, tmp_path)
    furnish(box, {}, eager=eager)
    environment = json.loads((box.path / "environment.json").read_text())
    assert (environment.get("TORCH_COMPILE_DISABLE") == "1") is eager


def test_an_optimizer_makes_no_compiled_program() -> None:
    loaded = ("torch._dynamo", "torch._inductor", "torch._inductor.config")
    assert not Process(1, torch=loaded).is_compiled
    assert Process(1, torch=(*loaded, "torch._inductor.compile_fx")).is_compiled


def test_what_a_library_generates_as_the_program_runs_is_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    files = {"train.py": tmp_path / "train.py", "generated.py": folder / "generated.py"}
    for path in files.values():
        path.write_text("import torch\n")
    process = Process(1, begun=1.0, files={name: str(path) for name, path in files.items()})
    assert seen_in(process).changed == ("train.py",)
    assert [*seen_in(process).sources] == ["train.py"]
    monkeypatch.chdir(folder)
    assert [*seen_in(process).sources] == ["train.py", "generated.py"]


async def test_what_ran_for_long_is_diagnosed_without_another_run(tmp_path: Path) -> None:
    """A client may ask for a minute; the user's own command has taken what it took."""
    files = {name: tmp_path / name for name in ("train.py", *(f"p{n}.py" for n in range(70)))}
    for name, path in files.items():
        path.write_text(ONE_FILE if name == "train.py" else "VALUE = 1\n")
    process = Process(1, seconds=3600.0, main="train.py", error="RuntimeError")
    process = replace(process, files={name: str(path) for name, path in files.items()})
    findings = await findings_of(seen_in(process), None, NoProgress())
    assert findings.causes[0].location.line == 3


async def test_a_message_that_left_no_evidence_is_answered_by_the_catalogue(tmp_path: Path) -> None:
    source = "import torch\nnet.register_backward_hook(look)\nnet(x).sum().backward()\n"
    (tmp_path / "train.py").write_text(source)
    message = "Cannot use both regular backward hooks and full backward hooks on a single Module."
    frame = {"file": "train.py", "line": 3, "function": "<module>", "code": "net(x)"}
    raised = {"t": "raised", "type": "RuntimeError", "message": message, "frames": [frame]}
    records = [{"t": "start", "v": 1}, raised, {"t": "end", "reason": "raised"}]
    process = Process(1, main="train.py", error="RuntimeError")
    process = replace(
        process,
        files={"train.py": str(tmp_path / "train.py")},
        records="\n".join(map(json.dumps, records)).encode(),
    )
    findings = await findings_of(seen_in(process), None, NoProgress())
    assert findings.answer is not None
    assert findings.answer.message == "backward-hooks-mixed"
    assert findings.summary.startswith("The first place to look at: line 2: ")


def test_settings_of_torch_last_no_longer_than_its_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    seen: dict[str, str] = {}

    @_settings({"OMP_NUM_THREADS": None, "MKL_NUM_THREADS": "1"})
    def interrupted() -> None:
        seen.update(os.environ)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "OMP_NUM_THREADS" not in seen
    assert seen["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


async def test_one_run_goes_on_at_a_time_once_two_cannot() -> None:
    turns, going, most = Turns(2), 0, 0

    async def run() -> None:
        nonlocal going, most
        async with turns:
            going += 1
            most = max(most, going)
            await asyncio.sleep(0.01)
            going -= 1

    await asyncio.gather(*(run() for _ in range(4)))
    assert most == 2
    turns.most, most = 1, 0
    await asyncio.gather(*(run() for _ in range(4)))
    assert most == 1


def test_runs_take_turns_where_the_machine_has_no_room_for_two() -> None:
    small = Process(1, parent=os.getpid(), peak_kib=1)
    assert runs_at_once(small) == min(2, len(os.sched_getaffinity(0)))
    assert runs_at_once(replace(small, peak_kib=1 << 40)) == 1
    assert runs_at_once(replace(small, cuda=True)) == 1
    assert runs_at_once(replace(small, parent=1)) == 1


def test_calls_that_take_long_need_to_be_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    job = {"stop_after_backwards": 24, "least_backwards": 9, "brief_s": 2.0}
    following = FollowLimit(job, lambda: now, lambda: 0)
    asked = []
    for calls, now in ((0, 5.0), (9, 6.0), (9, 7.0), (24, 6.5)):  # noqa: B007
        monkeypatch.setattr(CLOCK, "calls", calls)
        asked.append(following.enough(Calls()))
    assert asked == [False, False, True, True]
