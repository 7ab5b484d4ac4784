"""Where a parameter without a gradient is cut off: what has no graph, or did not run, is no cut."""

from __future__ import annotations

import pytest

from analyzers.evidence import SilentFault
from analyzers.repair.reconnect.missing_gradients import cuts_of_fault
from analyzers.source.project import Project

SCRIPT = """\
import argparse
import numpy as np
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.body, self.head, self.args = nn.Linear(4, 4), nn.Linear(4, 1), args
    def forward(self, x):
        h = self.body(x)
        {0}
parser = argparse.ArgumentParser()
parser.add_argument("--data")
net = Net(parser.parse_args())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).mean().backward()
    optimizer.step()
"""


def _cuts(body: str, parameter: str, *ran: int) -> list[int]:
    lines = (("train.py", ran),) if ran else ()
    fault = SilentFault("unfed-parameters", "observed", params=(parameter,), ran=lines)
    project = Project({"train.py": SCRIPT.format(body.replace("\n", "\n" + 8 * " "))}, "train.py")
    return [cut.place.line for cut in cuts_of_fault(fault, project)]


@pytest.mark.parametrize(
    ("body", "parameter", "lines"),
    [
        ("return self.head(h).detach()", "net.head.weight", [11]),
        ("return self.head(h.detach())", "net.body.weight", [11]),
        ("return self.head(h.detach())", "net.head.weight", []),
        ("return self.head(torch.from_numpy(np.ones(4)))", "net.head.weight", []),
        ("return self.head(torch.load(self.args.data))", "net.head.weight", []),
        ("return self.head(h) * torch.tensor(self.args.data)", "net.head.weight", []),
    ],
)
def test_only_what_comes_from_the_parameter_is_cut_off(
    body: str, parameter: str, lines: list[int]
) -> None:
    assert _cuts(body, parameter) == lines


PROBED = """\
if self.args.data == "probe":
    return self.head(h).detach()
elif self.args.data:
    return self.head(h.float()).detach()
return h"""


@pytest.mark.parametrize(
    ("ran", "lines"),
    [
        ((), [12, 14]),  # nothing is known of what ran
        ((10, 11, 12), [12]),
        ((10, 11, 13, 14), [14]),
        ((10, 11, 13, 15), []),
        ((1, 2, 3), [12, 14]),  # nor the function called
    ],
)
def test_a_branch_that_did_not_run_cuts_nothing_off(ran: tuple[int, ...], lines: list[int]) -> None:
    assert _cuts(PROBED, "net.head.weight", *ran) == lines


def test_a_cut_that_ran_comes_before_one_that_did_not() -> None:
    other = "if self.args.data:\n    return self.head(h.detach())\nh = h.data\nreturn self.head(h)"
    assert _cuts(other, "net.body.weight") == [12, 13]
    assert _cuts(other, "net.body.weight", 10, 13, 14) == [13, 12]
