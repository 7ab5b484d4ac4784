"""What a script does to the ways by which it is observed, and what only looks as if it did."""

from __future__ import annotations

import sysconfig

import pytest

from sandbox.collect import read_trace
from tests.tracing import Tracing

LOOP = """\
import os
import torch
from torch.optim.lr_scheduler import StepLR
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
BEFORE
for _ in range(6):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
    AFTER
"""

BY_HAND = """\
def step():
    with torch.no_grad():
        for parameter in net.parameters():
            parameter WAY
optimizer.step = step
"""


def loop(before: str = "", after: str = "pass") -> str:
    return LOOP.replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize("way", ["-= 0.1 * parameter.grad", ".data.sub_(parameter.grad)"])
def test_steps_behind_an_optimizer_are_reported(traced: Tracing, way: str) -> None:
    ended = traced(loop(BY_HAND.replace(" WAY", f" {way}" if way[0] == "-" else way))).trace.ended
    assert ended is not None
    assert ended.steps == 0
    assert ended.tampered == ["it replaced an optimizer's step (train.py:6), and hid its steps"]


HONEST = {
    "a scheduler": ("scheduler = StepLR(optimizer, 1)", "scheduler.step()"),
    "a wrapper": ("inner = optimizer.step\noptimizer.step = lambda: inner()", "pass"),
    "a wrapper that skips": (
        "inner, turns = optimizer.step, iter(range(99))\n"
        "optimizer.step = lambda: inner() if next(turns) % 2 else None",
        "pass",
    ),
    "a step that does nothing": ("optimizer.step = lambda: None", "pass"),
    "a wrapper and a clamp": (
        "inner = optimizer.step\noptimizer.step = lambda: inner()",
        "net.weight.data.clamp_(-1, 1)",
    ),
}


@pytest.mark.parametrize("what", HONEST)
def test_steps_that_are_seen_are_nothing_to_tell(traced: Tracing, what: str) -> None:
    ended = traced(loop(*HONEST[what])).trace.ended
    assert ended is not None
    assert ended.tampered == []


def _given(number: str) -> str:
    """Find, as a script could, the descriptor that the run was given for its records."""
    return f"""\
names = {{n: os.path.realpath(f"/proc/self/fd/{{n}}") for n in os.listdir("/proc/self/fd")}}
number = min(int(n) for n, path in names.items() if path.endswith("records"))
{number}
"""


@pytest.mark.parametrize(
    ("deed", "reported"),
    [
        ("os.close(number)", "it closed the descriptor of the records"),
        (
            "os.dup2(os.open(os.devnull, os.O_WRONLY), number)",
            "it redirected the descriptor of the records",
        ),
    ],
)
def test_the_records_go_on_where_their_descriptor_is_taken(
    traced: Tracing, deed: str, reported: str
) -> None:
    trace = traced(loop(_given(deed))).trace
    assert trace.ended is not None
    assert trace.ended.tampered == [reported]
    assert len(trace.backwards) == 6


def test_records_that_are_lost_or_added_are_missed() -> None:
    start = b'{"t": "start", "v": 1}\n'
    step = b'{"t": "step", "n": 1}\n'
    end = b'{"t": "end", "reason": "finished", "records": 3}\n'
    assert read_trace(start + step + end)[1] == []
    assert read_trace(start + end)[1] == ["records were added or are lost"]
    assert read_trace(start + step + step + end)[1] == ["records were added or are lost"]


def test_a_warning_names_no_place_of_the_installation(traced: Tracing) -> None:
    script = """\
    import warnings
    import torch
    torch.nn.MSELoss()(torch.ones(2, 1), torch.ones(2))
    warnings.warn("of my own")
    """
    shown = traced(script).stderr
    assert "\ntorch/nn/modules/loss.py:" in "\n" + shown
    assert "train.py:4: UserWarning: of my own\n" in shown
    assert 'warnings.warn("of my own")' in shown
    assert sysconfig.get_path("purelib") not in shown
