"""Repeated runs: how long they may take, and what is compiled in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradmend.run_wrapper import rerun
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process
from gradmend.run_wrapper.rerun import Again
from gradmend.run_wrapper.starting import furnish
from sandbox.protocol import Job


async def test_no_run_begins_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun, "ALL_S", 0.0)
    session = Again(["false"], Process(1), None, {}, patient=False)
    try:
        result = await session.run(Job(files={}))
    finally:
        await session.close()
    assert result.status == "unavailable"
    assert session.runs == 0
    (trouble,) = session.troubles
    assert "--patient" in trouble


@pytest.mark.parametrize("eager", [True, False])
def test_a_traced_run_of_a_compiled_program_is_not_compiled(tmp_path: Path, *, eager: bool) -> None:
    box = ExchangeDir({}, tmp_path)
    furnish(box, {}, eager=eager)
    environment = json.loads((box.path / "environment.json").read_text())
    assert (environment.get("TORCH_COMPILE_DISABLE") == "1") is eager
