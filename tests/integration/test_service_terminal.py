"""The command line, as typed: what it prints, what it changes, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.case_files import ROOT, strip
from tests.processes import COMMAND, Process, alive, children, eventually

FAILING = strip(ROOT / "recurrent_state" / "char_lm.py")
RERUN = strip(ROOT / "notebook_rerun" / "one_step_at_a_time.ipynb")
HEALTHY = strip(ROOT / "recurrent_state" / "ok_detached_each_batch.py")


def gradmend(directory: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "diagnose", *arguments],
        cwd=directory,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=200,
    )


def test_found_applied_and_then_healthy(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    found = gradmend(tmp_path, "train.py", "--apply")
    assert found.returncode == 1, found.stderr
    for told in ("confirmed", "recurrent-state", "--- a/train.py", "✓ reproduced", "✓ learns"):
        assert told in found.stdout
    assert "Changed train.py." in found.stderr
    assert script.read_text() != FAILING
    again = gradmend(tmp_path, "train.py")
    assert (again.returncode, again.stdout.split()[0]) == (0, "healthy"), again.stdout


def test_a_patch_is_applied_to_a_notebook(tmp_path: Path) -> None:
    script = tmp_path / "train.ipynb"
    script.write_text(RERUN)
    found = gradmend(tmp_path, "train.ipynb", "--apply")
    assert found.returncode == 1, found.stderr
    assert "Changed train.ipynb." in found.stderr
    before, after = json.loads(RERUN), json.loads(script.read_text())
    changed = [
        a["source"] != b["source"] for a, b in zip(before["cells"], after["cells"], strict=True)
    ]
    assert changed == [False, False, False, True, True]
    assert [
        a | {"source": b["source"]} for a, b in zip(before["cells"], after["cells"], strict=True)
    ] == after["cells"]


def test_json_is_the_findings(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    done = gradmend(tmp_path, "train.py", "--json")
    assert json.loads(done.stdout)["verdict"] == "healthy"
    assert done.returncode == 0


def test_line_ends_survive_an_applied_patch(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(FAILING.replace("\n", "\r\n").encode())
    gradmend(tmp_path, "train.py", "--apply")
    patched = script.read_bytes()
    assert patched != FAILING.replace("\n", "\r\n").encode()
    assert patched.count(b"\n") == patched.count(b"\r\n")


def test_reading_only_from_standard_input(tmp_path: Path) -> None:
    done = gradmend(tmp_path, "-", "--run", "never", "--json", stdin=FAILING)
    findings = json.loads(done.stdout)
    assert findings["verdict"] in ("likely", "inconclusive")
    assert done.returncode == (1 if findings["verdict"] == "likely" else 2)
    assert [patch["verification"]["status"] for patch in findings["patches"]] == ["not_run"] * len(
        findings["patches"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "missing.py: no such file"),
        (["."], "is a directory"),
        (["binary.py"], "not UTF-8 text"),
        (["empty.py"], "is empty"),
        (["ok.py", "--traceback", "missing.txt"], "missing.txt: no such file"),
        (["ok.py", "--file", "/etc/hostname"], "outside the project's directory"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "ok.py").write_text("x = 1\n")
    done = gradmend(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_everything_started(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "train.py").write_text("import select\nselect.select([], [], [], 60)\n")
    process = Process(tmp_path, "diagnose", "train.py", "--time-limit", "60")
    eventually(lambda: len(children(process.pid)) >= 4)
    started = children(process.pid)
    process.popen.send_signal(number)
    assert process.popen.wait(30) in (128 + number, -number)
    eventually(lambda: not alive(started), 20)
