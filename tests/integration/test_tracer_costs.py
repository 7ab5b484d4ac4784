"""What the tracer does in each step of a healthy training, in calls of its functions: no times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.overhead import LOOPS
from sandbox.inside.core.sampling import CallSampler

pytestmark = pytest.mark.rotating
ROOT = Path(__file__).parents[2]
TRAINING = """\
import inspect
import sys

import torch
from torch import nn
from torch.utils.data import Dataset

INSIDE = {inside!r}
counted = 0


def count(frame, event, arg):
    global counted
    if event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR:
        counted += frame.f_code.co_filename.startswith(INSIDE)


def calls(function, times):
    global counted
    counted = 0
    sys.setprofile(count)
    for _ in range(times):
        function()
    sys.setprofile(None)
    return counted / times


def events(function, times):
    raised, asked = [], True
    sys.addaudithook(lambda *event: raised.append(event) if asked else None)
    for _ in range(times):
        function()
    asked = False
    return len(raised) / times


{body}
"""
STEPS = """\
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(torch.randn(4, 8)), torch.randint(4, (4,)))
    loss.backward()
    optimizer.step()


print(calls(step, 20), calls(step, 100) and calls(step, 100))
"""


LOOP = """\
{loop}
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def step():
    optimizer.zero_grad()
    forward().backward()
    optimizer.step()


print(calls(step, 20), calls(step, 100) and calls(step, 100), events(step, 100))
"""
# of a step, once it is known: calls of the tracer's functions, and audit events, each of which is
# a call of the guard's hook; a generator goes on for less than half of a call
MOST = {"MLP": (58, 25), "tiny MLP": (54, 23), "nn.LSTM": (51, 20), "LSTMCell × 20": (365, 39)}


def _printed(folder: Path, body: str, **job: object) -> list[float]:
    """What a traced training prints."""
    inside = str(ROOT / "sandbox" / "inside") + os.sep
    folder.joinpath("train.py").write_text(TRAINING.format(inside=inside, body=body))
    folder.joinpath("job.json").write_text(json.dumps({"mode": "trace", "stubs": False} | job))
    ended = subprocess.run(
        [sys.executable, "-m", "sandbox.inside.main", "job.json", "--records", "records"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [float(number) for number in ended.stdout.split()]


def test_a_step_is_looked_at_closely_only_while_it_is_new(tmp_path: Path) -> None:
    first, later = _printed(tmp_path, STEPS)
    assert 0 < later <= 46
    assert later < first / 8


@pytest.mark.parametrize("loop", LOOPS)
def test_a_known_step_costs_few_calls(tmp_path: Path, loop: str) -> None:
    first, later, events = _printed(tmp_path, LOOP.format(loop=LOOPS[loop]), stubs=True)
    assert later < first / 4
    assert later <= MOST[loop][0]
    assert events <= MOST[loop][1]


def test_a_long_run_is_looked_at_ever_more_seldom() -> None:
    sampler = CallSampler()
    looked = [n for n in range(1, 40_000) if sampler.begin(n, n)]
    assert {n // 1024 for n in looked if n < 4096} == {0, 1, 2}
    assert len(looked) <= 32 + 16 * (2 + 9)
    assert max(looked) > 36_000


def test_the_tracer_reads_gradients_as_torch_does(tmp_path: Path) -> None:
    reads = f"""\
{STEPS.rpartition("print")[0]}
import collections
read = collections.Counter()


def count(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.endswith("gradient_reads.py"):
        read[frame.f_back.f_code.co_filename.startswith(INSIDE)] += 1


sys.setprofile(count)
for _ in range(20):
    step()
sys.setprofile(None)
print(read[True] / 20, read[False] / 20)
"""
    own, others = _printed(tmp_path, reads)
    assert own <= 16 <= others


def test_a_run_that_is_not_checked_calls_less(tmp_path: Path) -> None:
    checked, _ = _printed(tmp_path, STEPS)
    plain, later = _printed(tmp_path, STEPS, silent=False)
    assert plain < checked / 2
    assert 0 < later <= 46


@pytest.mark.parametrize("job", [{"reference": "kept"}, {"mode": "inplace"}])
def test_what_sees_every_operation_imports_no_compiler(
    tmp_path: Path, job: dict[str, object]
) -> None:
    """Importing it takes longer than a small training."""
    body = "torch.ones(2, requires_grad=True).sum().backward()"
    assert _printed(tmp_path, f"{body}\nprint(int('torch._dynamo' in sys.modules))", **job) == [0]


@pytest.mark.parametrize("arithmetic", ["", "def __add__(self, other): return self"])
def test_a_data_set_is_no_engine(tmp_path: Path, arithmetic: str) -> None:
    body = f"""\
class Words(Dataset):
    def __init__(self, words):
        self.words = words

    def __len__(self):
        return len(self.words)

    def encode(self, word):
        return [ord(letter) - 97 for letter in word]

    def __getitem__(self, index):
        return torch.tensor(self.encode(self.words[index]))

    {arithmetic}


words = Words(["word"] * 1000)
print(calls(lambda: words[3], 50))
"""
    (each,) = _printed(tmp_path, body)
    assert each <= 2  # the wrapper, which asks whether there is an engine at all
