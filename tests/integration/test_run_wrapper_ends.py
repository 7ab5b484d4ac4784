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


def test_a_folder_that_each_run_makes_again(tmp_path: Path) -> None:
    """What a repeated run takes away is gone for it, and only for it."""
    again = (
        "import os, shutil\n"
        "if os.path.exists('log'):\n"
        "    shutil.rmtree('log')\n"
        "os.makedirs('log')\n"
        "open('log/notes.txt', 'w').write('run')\n"
        "os.rename('log/notes.txt', 'log/old.txt')\n"
        "assert os.listdir('log') == ['old.txt']\n"
    )
    (tmp_path / "train.py").write_text(again + ONE_FILE)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    assert os.listdir(tmp_path / "log") == ["old.txt"]


def test_a_folder_that_only_a_first_run_may_make(tmp_path: Path) -> None:
    """A repeated run makes it, too, but not twice; what the user had before, neither may."""
    once = (
        "import os\n"
        "os.makedirs('log/sample')\n"
        "for folder in ('log/sample', 'old'):\n"
        "    try:\n"
        "        os.mkdir(folder)\n"
        "    except FileExistsError:\n"
        "        continue\n"
        "    raise SystemExit(3)\n"
        "open('log/sample/notes.txt', 'w').write('run')\n"
    )
    (tmp_path / "old").mkdir()
    (tmp_path / "train.py").write_text(once + ONE_FILE)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr


def test_weights_that_the_first_run_left(tmp_path: Path) -> None:
    """A program that goes on from them would not fail again, or not in the same way."""
    resuming = (
        "import os, torch\n"
        "os.makedirs('log', exist_ok=True)\n"
        "if 'last.pt' in os.listdir('log') and torch.load('log/last.pt'):\n"
        "    raise SystemExit(3)\n"
        "torch.save([1], 'log/last.pt')\n"
    )
    (tmp_path / "train.py").write_text(resuming + ONE_FILE)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    assert call([PYTHON, "train.py"], tmp_path).code == 3


def test_a_main_script_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "train").write_text(ONE_FILE)
    ran = gradmend(["run", "--", PYTHON, "train"], tmp_path)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr


def test_an_error_that_the_program_swallows(tmp_path: Path) -> None:
    """It is explained if the program caught whatever came and ended, and is not if it went on."""
    lines = ["    " + line for line in ONE_FILE.splitlines()]
    caught = "\n".join(["try:", *lines, "except Exception as error:", "    print(error)", ""])
    (tmp_path / "train.py").write_text(caught)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    for ending in ("torch.ones(1, requires_grad=True).sum().backward()\n", ""):
        text = caught if ending else caught.replace("Exception", "RuntimeError")
        (tmp_path / "train.py").write_text(text + ending)
        meant = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
        assert (meant.code, meant.stderr) == (0, "")


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
