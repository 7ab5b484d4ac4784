"""What a short command does without is not imported: most of its time would go there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.case_files import load_case

SERVICE = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "structlog", "jinja2", "torch", "numpy"}
RUNNING = {"sandbox.collect", "app.repair.search", "app.repair.judging"}
EXPLAINING = {"analyzers.explain.reuse", "analyzers.repair", "analyzers.request.explaining"}
DRAWING = {"markdown_it", "pygments", "rich.markdown", "rich.live"}


def imported(*words: str) -> set[str]:
    """The modules that a command imports, its worker's too."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gradmend", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def imported_for(case: str, folder: Path) -> set[str]:
    """The modules that reading a case imports."""
    script = folder / "train.py"
    script.write_text(load_case(case).stripped)
    return imported("diagnose", "--run", "never", str(script))


def test_reading_a_healthy_script_explains_and_runs_nothing(tmp_path: Path) -> None:
    found = imported_for("recurrent_state/ok_detached_each_batch", tmp_path)
    assert "analyzers.reading.machine" in found
    assert not (SERVICE | RUNNING | EXPLAINING | DRAWING) & found


def test_reading_a_failing_script_runs_nothing(tmp_path: Path) -> None:
    found = imported_for("recurrent_state/char_lm", tmp_path)
    assert found >= EXPLAINING
    assert not (SERVICE | RUNNING | DRAWING) & found


def test_what_cannot_be_diagnosed_is_refused_before_what_diagnoses_is_imported() -> None:
    found = imported("diagnose", "nowhere.py")
    assert "app.command.project" in found
    assert not {"app.diagnose", "app.settings", "sandbox.client", "analyzers.paste"} & found


def test_a_command_is_started_before_anything_is_imported_to_explain_it() -> None:
    found = imported("run", "--", "true")
    assert "gradmend.run_wrapper.cli_args" in found
    assert not any(name.partition(".")[0] in ("pydantic", "analyzers", "asyncio") for name in found)
