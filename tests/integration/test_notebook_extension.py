"""`%load_ext gradmend` in a real kernel: the box under an error, and the cell that fixes it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = pytest.mark.rotating

SETUP = """\
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)"""
FORWARD = "loss = (model(x) - y).pow(2).mean()"
STEP = "optimizer.zero_grad()\nloss.backward()\noptimizer.step()"
RECURRENT = """\
cell = torch.nn.GRUCell(3, 3)
state = torch.zeros(8, 3)
for step in range(3):
    state = cell(x, state)
    state.pow(2).mean().backward()"""


@dataclass
class Answer:
    """What running a cell gave: displays, printed text, the next cell that was asked for."""

    shown: list[dict[str, str]] = field(default_factory=list)
    printed: str = ""
    error: str = ""
    next_cell: str | None = None


class Kernel:
    """A running kernel, cell by cell."""

    def __init__(self, directory: Path) -> None:
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", cwd=str(directory), startup_timeout=120
        )

    def run(self, source: str) -> Answer:
        answer = Answer()
        reply = self.client.execute_interactive(
            source, timeout=180, output_hook=lambda message: self._heard(message, answer)
        )
        for payload in reply["content"].get("payload", []):
            if payload["source"] == "set_next_input" and payload["replace"]:
                answer.next_cell = payload["text"]
        return answer

    def _heard(self, message: Any, answer: Answer) -> None:
        content = message["content"]
        if message["msg_type"] == "display_data":
            answer.shown.append(content["data"])
        elif message["msg_type"] == "stream":
            answer.printed += content["text"]
        elif message["msg_type"] == "error":
            answer.error = content["evalue"]

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    running = Kernel(tmp_path_factory.mktemp("notebook"))
    assert running.run("%load_ext gradmend").error == ""
    assert running.run(SETUP).error == ""
    yield running
    running.close()


def test_a_cell_that_was_run_again_is_explained(kernel: Kernel) -> None:
    assert kernel.run(FORWARD).shown == []
    assert kernel.run(STEP).error == ""
    again = kernel.run(STEP)
    assert again.error.startswith("Trying to backward through the graph a second time")
    (box,) = again.shown
    assert "gradmend: " in box["text/plain"]
    assert "loss" in box["text/plain"]
    assert "In [" in box["text/plain"]
    assert box["text/html"].startswith("<div style=")
    fixed = kernel.run("%gradmend fix").next_cell
    assert fixed is not None
    assert kernel.run(fixed).error == ""
    assert kernel.run(fixed).error == ""


def test_a_faulty_cell_is_marked_and_fixed(kernel: Kernel) -> None:
    failed = kernel.run(RECURRENT)
    (box,) = failed.shown
    assert ", line 4: state = cell(x, state)" in box["text/plain"]
    assert "state has a graph now: " in box["text/plain"]
    assert "detach()" in box["text/html"]
    fixed = kernel.run("%gradmend fix").next_cell
    assert fixed is not None
    assert fixed != RECURRENT
    assert kernel.run(fixed).error == ""


def test_other_errors_and_words_get_no_box(kernel: Kernel) -> None:
    assert kernel.run("1 / 0").shown == []
    assert kernel.run("raise RuntimeError('the graph of sales')").shown == []
    assert "say `%gradmend fix`" in kernel.run("%gradmend help").printed
    assert kernel.run("%unload_ext gradmend\n%load_ext gradmend").error == ""
    assert "no autograd error" in kernel.run("%gradmend fix").printed


def test_a_terminal_is_answered_in_text(tmp_path: Path) -> None:

    typed = "\n".join(["%load_ext gradmend", SETUP, FORWARD, "loss.backward(); loss.backward()"])
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
        input=typed + "\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "gradmend: " in done.stdout, done.stdout + done.stderr
    assert "<div" not in done.stdout
