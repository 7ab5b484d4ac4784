"""What tracing costs: CPU time of training loops, plain, traced in two ways, and in anomaly mode.

    python -m benchmarks.overhead [--steps 1000] [--rounds 5]

Two figures, as they concern different programs. What is paid once is the CPU time that a traced
run has taken more than a plain one by its 64th step: imports, and a close look at what is new. The
cost of a step is that of the steps that follow. `run` is the user's own program under `gradmend
run`, `traced` the one that the service traces in its sandbox, where a guard also watches the tracer
itself. All take turns, each in a process of its own; shown are medians over the rounds, of ratios
too. One thread, SGD, nothing
loaded or logged: what a tracer adds shows as much as it can. The MLP is of the size that MNIST is
taught with (784-256-256-10, batches of 64). The tiny one (64-128-128, batches of 32) is there
because its step is nearly all Python.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FIRST = 64  # steps
LOOPS = {
    "MLP": """\
net = nn.Sequential(
    nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
)
def forward():
    return nn.functional.cross_entropy(net(torch.randn(64, 784)), torch.randint(10, (64,)))
""",
    "tiny MLP": """\
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
def forward():
    return net(torch.randn(32, 64)).square().mean()
""",
    "nn.LSTM": """\
net = nn.LSTM(32, 64)
def forward():
    return net(torch.randn(20, 16, 32))[0].square().mean()
""",
    "LSTMCell × 20": """\
net = nn.LSTMCell(32, 64)
def forward():
    h, c = torch.zeros(16, 64), torch.zeros(16, 64)
    for x in torch.randn(20, 16, 32):
        h, c = net(x, (h, c))
    return h.square().mean()
""",
}

SCRIPT = """\
import time
import torch
from torch import nn
torch.set_num_threads(1)
{loop}
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = forward()
        loss.backward()
        optimizer.step()
if {anomaly}:
    torch.autograd.set_detect_anomaly(True)
train({first})
begun = time.process_time()
train({steps})
print(begun, (time.process_time() - begun) / {steps})
"""


KINDS = "plain", "run", "traced", "anomaly"


def measured(loop: str, kind: str, steps: int) -> tuple[float, float]:
    """CPU seconds of one run up to its 64th step, and of each step that follows.

    `kind` is one of `KINDS`.
    """
    with tempfile.TemporaryDirectory() as home:
        script = SCRIPT.format(
            loop=LOOPS[loop], steps=steps, first=FIRST, anomaly=kind == "anomaly"
        )
        Path(home, "train.py").write_text(script)
        command = ["train.py"]
        if kind == "traced":
            Path(home, "job.json").write_text(json.dumps({"mode": "trace"}))
            command = ["-m", "sandbox.inside.main", "job.json", "--records", "records"]
        elif kind == "run":
            command = ["-m", "gradmend", "run", "--", sys.executable, "train.py"]
        here = str(Path(__file__).parent.parent)
        result = subprocess.run(
            [sys.executable, *command],
            cwd=home,
            env={**os.environ, "PYTHONPATH": here, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        begun, each = map(float, result.stdout.split())
        return begun, each


def main() -> None:
    """Print one table: milliseconds a step, ratios to that, and what is paid once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    print(f"{'':<16}{'a step':^50}{'once':>16}")
    print(f"{'loop':<16}{'plain ms':>10}", *(f"{kind:>9}" for kind in KINDS[1:]), end="")
    print(*(f"{kind + ' s':>12}" for kind in KINDS[1:3]))
    for loop in LOOPS:
        rounds = [
            {kind: measured(loop, kind, chosen.steps) for kind in KINDS}
            for _ in range(chosen.rounds)
        ]
        plain = 1000 * statistics.median(one["plain"][1] for one in rounds)
        ratios = [statistics.median(r[k][1] / r["plain"][1] for r in rounds) for k in KINDS[1:]]
        once = [statistics.median(r[k][0] - r["plain"][0] for r in rounds) for k in KINDS[1:3]]
        print(f"{loop:<16}{plain:>10.2f}", *(f"{ratio:>9.2f}" for ratio in ratios), end="")
        print(*(f"{seconds:>12.2f}" for seconds in once))


if __name__ == "__main__":
    main()
