"""Commands whose runs are forked from a warm interpreter."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_warm_runs import PYTHON, _gone
from tests.processes import hear_interrupts
from tests.run_wrapper import ROOT, environment, gradmend

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]

TRAIN = """\
import os, sys, time
with open(os.path.expanduser("~/.cache/starts"), "a+") as starts:
    print(os.getpid(), os.getppid(), file=starts)
    starts.seek(0)
    count = len(starts.readlines())
import torch
from model import state_of
w = torch.ones(2, requires_grad=True)
state = w * 1
for step in range(4):
    state = state_of(state, w)
    state.sum().backward()
"""
MODEL = """\
def state_of(state, w):
    return state * w
"""


def test_a_command_is_fixed_by_forks_of_one_interpreter(tmp_path: Path) -> None:
    ran = _fixed(tmp_path, TRAIN)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    parents = [line.split()[1] for line in _starts(tmp_path)]
    assert len(parents) > 4
    assert len(set(parents[1:])) == 1  # but for the first run


def test_torch_is_loaded_with_the_settings_that_the_program_makes(tmp_path: Path) -> None:
    changed = "os.environ['OMP_NUM_THREADS'] = '1'\n"
    threads = "print(torch.get_num_threads(), file=open(os.path.expanduser('~/.cache/of'), 'a'))\n"
    program = TRAIN.replace("import torch\n", f"{changed}import torch\n{threads}")
    ran = _fixed(tmp_path, program)
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    first, *others = [line.split()[1] for line in _starts(tmp_path)]
    assert len(set(others)) == 1
    assert first not in others
    assert set((tmp_path / ".cache/of").read_text().split()) == {"1"}


def test_a_port_that_two_runs_would_use_is_used_by_one_after_the_other(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listens = f"import socket; server = socket.create_server(('127.0.0.1', {port}))\n"
    slow = "    time.sleep(0.2)\n"
    program = TRAIN.replace("from model", f"{listens}from model")
    ran = _fixed(tmp_path, program.replace("    state.sum", f"{slow}    state.sum"))
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    assert "already in use" not in ran.stderr


def test_forks_that_are_lost_are_recomputed(tmp_path: Path) -> None:
    fails = "if 'runner.py' in ' '.join(sys.orig_argv): os._exit(0)\n"
    ran = _fixed(tmp_path, TRAIN.replace("from model", f"{fails}from model"))
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr
    parents = [line.split()[1] for line in _starts(tmp_path)]
    assert len(parents) > 4
    assert len([pid for pid in parents if pid != parents[0]]) == 1


async def test_ctrl_c_ends_forks_too(tmp_path: Path) -> None:
    waits = "if count > 2: time.sleep(300)\n"
    _put_down(tmp_path, TRAIN.replace("from model", f"{waits}from model"))
    child = _started(tmp_path)
    for _ in range(3000):
        if len(_starts(tmp_path)) > 2:
            break
        await asyncio.sleep(0.1)
    pids = {int(word) for line in _starts(tmp_path)[1:] for word in line.split()} - {child.pid}
    assert pids
    os.killpg(child.pid, signal.SIGINT)
    _, reported = await asyncio.to_thread(child.communicate, timeout=200)
    assert child.returncode == 1
    assert "stopped; the cause stands" in reported
    assert "KeyboardInterrupt" not in reported
    assert all([await _gone(pid) for pid in pids])


def _put_down(folder: Path, program: str) -> None:
    (folder / ".cache").mkdir()
    (folder / "train.py").write_text(program)
    (folder / "model.py").write_text(MODEL)


def _started(folder: Path) -> subprocess.Popen[str]:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import gradmend.command as c; c.main()"
    )
    return subprocess.Popen(
        [PYTHON, "-P", "-c", program, "run", "--", PYTHON, "train.py"],
        cwd=folder,
        env=environment(folder, HOME=str(folder)),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )


def _fixed(folder: Path, program: str) -> Any:
    _put_down(folder, program)
    return gradmend(["run", "--patient", "--", PYTHON, "train.py"], folder, HOME=str(folder))


def _starts(folder: Path) -> list[str]:
    reported = folder / ".cache/starts"
    return reported.read_text().splitlines() if reported.exists() else []
