"""How `gradmend run` passes on signals and files, and what it shares."""

from __future__ import annotations

import os
import signal
import stat
import time
from pathlib import Path

import pytest

from tests.integration.test_run_wrapper import PYTHON
from tests.processes import Server, hear_interrupts, running
from tests.run_wrapper import ONE_FILE, call, gradmend, started

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.rotating,
]


def test_a_signal_reaches_the_command_and_is_its_end(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import signal, sys, time, torch\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(7)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(200)\n"
    )
    child = started(["run", "--", PYTHON, "train.py"], tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=100)
    assert (out, child.returncode) == ("saved\n", 7)


def test_ctrl_c_ends_both(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import time, torch\nprint('ready', flush=True)\ntime.sleep(200)\n"
    )
    options = {"start_new_session": True, "preexec_fn": hear_interrupts}
    child = started(["run", "--", PYTHON, "train.py"], tmp_path, **options)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    os.killpg(child.pid, signal.SIGINT)
    _, reported = child.communicate(timeout=100)
    assert child.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in reported
    assert "gradmend:" not in reported


def test_files_of_the_user_stay_as_they_are(tmp_path: Path) -> None:
    """A second run that saves, renames, removes and makes folders works on files of its own."""
    (tmp_path / "train.py").write_text(
        "import os, shutil, torch\n"
        "from pathlib import Path\n"
        "best = Path('runs/best.pt')\n"
        "best.parent.mkdir(exist_ok=True)\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "torch.save(w, 'runs/new.pt')\n"
        "os.replace('runs/new.pt', best)\n"
        "assert torch.load(best, weights_only=True).shape == (2,)\n"
        "Path('runs/notes.txt').open('a').write('run\\n')\n"
        "for old in Path('runs').glob('*.old'):\n"
        "    old.unlink()\n"
        "y = (w * w).sum()\n"
        "for _ in range(4):\n"
        "    y.backward()\n"
    )
    (tmp_path / "runs").mkdir()
    call([PYTHON, "train.py"], tmp_path)
    (tmp_path / "runs/kept.old").write_text("old")
    before = {}

    def state() -> dict[str, tuple[float, int]]:
        paths = [p for p in (tmp_path / "runs").rglob("*") if p.name != "kept.old"]
        return {p.name: (p.stat().st_mtime, p.stat().st_size) for p in paths}

    ran = gradmend(["run", "--no-rerun", "--", PYTHON, "train.py"], tmp_path)
    before = state()
    assert ran.code == 1
    (tmp_path / "runs/kept.old").write_text("old")
    time.sleep(0.01)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    assert (tmp_path / "runs/notes.txt").read_text() == "run\n" * 3
    assert set(state()) == set(before)
    assert stat.S_ISREG((tmp_path / "runs/best.pt").stat().st_mode)


def test_what_is_shared_is_said_and_found_at_the_server(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ONE_FILE)
    (tmp_path / "server").mkdir()
    server = Server(tmp_path / "server", sandbox="none")
    with running(server):
        ran = gradmend(
            ["run", "--no-rerun", "--share", server.url, "--", PYTHON, "train.py"], tmp_path
        )
        assert f"sending to {server.url}: the text of train.py, and the trace" in ran.stderr
        place = ran.stderr.partition("the result is at ")[2].strip()
        found = server.http.get(place.replace("/d/", "/v1/diagnoses/")).json()
    assert (found["verdict"], found["basis"]) == ("confirmed", "trace")
    nobody = gradmend(
        ["run", "--no-rerun", "--share", server.url, "--", PYTHON, "train.py"], tmp_path
    )
    assert f"{server.url} cannot be reached" in nobody.stderr
    assert nobody.code == 1
