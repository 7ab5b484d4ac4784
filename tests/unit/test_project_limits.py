"""The time limit of a project's settings, as commands that compare versions take it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.command import verifying
from app.command.sides import Comparison


@pytest.mark.parametrize(("words", "limit"), [((), 33.0), (("--time-limit", "7"), 7.0)])
def test_verify_takes_the_time_limit_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], limit: float
) -> None:
    asked: list[Comparison] = []

    async def verify_here(comparison: Comparison, allowed: tuple[str, ...]) -> int:
        asked.append(comparison)
        return 0

    monkeypatch.setattr(verifying, "verify_here", verify_here)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.gradmend]\ntime-limit = 33\n")
    done = CliRunner().invoke(cli, ["verify", "one.py", "other.py", *words])
    assert (done.exit_code, done.output) == (0, "")
    assert [one.options.time_limit_s for one in asked] == [limit]
