"""Small trainings and changes of them, for tests of the ways in which changes are verified."""

from __future__ import annotations

import difflib

HEALTHY = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""
REFACTORED = HEALTHY.replace(
    "    loss = nn.functional.mse_loss(model(x), y)\n",
    "    error = model(x) - y\n    loss = (error * error).mean()\n",
)
CHANGED = HEALTHY.replace("mse_loss(model(x), y)", "l1_loss(model(x), y)")
FROZEN = HEALTHY.replace("mse_loss(model(x), y)", "mse_loss(model(x.detach())[:0], y[:0])")
RAISES = HEALTHY.replace("    optimizer.step()\n", "    optimizer.steps()\n")
UNREPEATABLE = HEALTHY.replace("torch.manual_seed(0)", "torch.seed()")

FAILING = """\
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(3, 5)
head = nn.Linear(5, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h = torch.zeros(2, 5)
for step in range(12):
    x = torch.randn(2, 3)
    h = cell(x, h)
    loss = head(h).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIXED = FAILING.replace("    h = cell(x, h)\n", "    h = cell(x, h.detach())\n")
FORGETFUL = FAILING.replace("    h = cell(x, h)\n", "    h = cell(x)\n")


def diff(before: str, after: str, name: str = "train.py") -> str:
    """The unified diff between two texts of a file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)
