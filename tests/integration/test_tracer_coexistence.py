"""The tracer next to everything else that a script may use; a traced run computes the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.collect import read_trace
from sandbox.inside.bundle import build
from tests.tracing import Tracing

PRINT = "\nprint([p.detach().double().sum().item().hex() for p in net.parameters()])\n"

HARNESSES = {
    "adam and dropout": """\
import torch, random
import numpy as np
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(5):
    x = torch.randn(3, 4) + random.random() + np.random.rand()
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
""",
    "lbfgs": """\
import torch
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
x = torch.randn(16, 4)
def closure():
    optimizer.zero_grad()
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    return loss
for _ in range(2):
    optimizer.step(closure)
""",
    "both checkpoints": """\
import torch
from torch.utils.checkpoint import checkpoint
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
for reentrant in (True, False):
    x = torch.randn(3, 4, requires_grad=True)
    y = checkpoint(net, x, use_reentrant=reentrant)
    y.sum().backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
""",
    "compiled": """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
fast = torch.compile(net, backend="eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    fast(torch.randn(3, 4)).square().mean().backward()
    optimizer.step()
""",
    "custom function and hooks": """\
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2 + 0 * ctx.saved_tensors[0]
net = torch.nn.Linear(4, 2)
net.register_full_backward_hook(lambda module, into, out: None)
net.weight.register_hook(lambda g: g * 0.5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    Double.apply(net(torch.randn(3, 4))).sum().backward()
    optimizer.step()
""",
    "amp with a scaler": """\
import torch
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(torch.randn(4, 8)).float().square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "workers and threads": """\
import threading
import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def learn():
    for (x,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
thread = threading.Thread(target=learn)
thread.start()
thread.join()
""",
    "functional transforms": """\
import torch
from torch.func import functional_call, grad, vmap
net = torch.nn.Linear(4, 1)
def loss(parameters, x):
    return functional_call(net, parameters, (x,)).square().mean()
for _ in range(3):
    parameters = dict(net.named_parameters())
    each = vmap(grad(loss), in_dims=(None, 0))(parameters, torch.randn(5, 4))
    with torch.no_grad():
        for name, p in net.named_parameters():
            p -= 0.1 * each[name].mean(0)
""",
}


@pytest.mark.parametrize("world", HARNESSES)
def test_traced_run_is_bit_identical(traced: Tracing, world: str) -> None:
    plain = traced(HARNESSES[world] + PRINT, mode="plain")
    watched = traced(HARNESSES[world] + PRINT, gradients=True)
    assert plain.code == 0, plain.stderr
    assert watched.code == 0, watched.stderr
    assert watched.stdout == plain.stdout
    assert watched.stdout.startswith("['")


SHARED = """\
import torch
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
h = torch.zeros(2, 3)
for _ in range(3):
    h = torch.tanh(h + net(torch.ones(2, 3)))
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_reference_keeps_graphs_and_changes_nothing(traced: Tracing) -> None:
    result = traced(SHARED + PRINT, reference="kept")
    alone = "\n".join(SHARED.splitlines()[:3]) + PRINT  # an optimizer's taking moves them alike
    untouched = traced(alone, frozen_steps=True, gradients=True)
    assert result.code == 0
    assert result.stdout == untouched.stdout
    steps = [step for step in result.trace.steps if step.optimizer == 0]
    assert len(steps) == 3
    assert all(gradient.norm > 0 for step in steps for gradient in step.gradients)
    assert steps[0].gradients != steps[2].gradients


def test_reference_survives_changes_of_saved_tensors(traced: Tracing) -> None:
    script = """\
        import torch
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        y = net(torch.ones(2, 3)).sigmoid()
        z = y * 2
        y += 1
        z.sum().backward()
        optimizer.step()
        """
    assert traced(script).code == 1
    result = traced(script, reference="kept")
    assert result.code == 0
    assert [g.norm > 0 for g in result.trace.steps[0].gradients] == [True, True]


def test_fingerprints_depend_on_values_alone(traced: Tracing) -> None:
    one = traced(SHARED.replace("h.square()", "h.detach().square() + h"), reference="kept")
    swapped = SHARED.replace("net.parameters()", "list(net.parameters())[::-1]")
    two = traced(swapped.replace("h.square()", "h.detach().square() + h"), reference="kept")
    prints = [
        {named[g.param]: g.projections for g in run.trace.steps[0].gradients}
        for run in (one, two)
        for named in [{p.id: p.name for p in run.trace.parameters}]
    ]
    assert prints[0] == prints[1]
    assert set(prints[0]) == {"net.weight", "net.bias"}


def test_a_run_stops_when_enough_was_seen(traced: Tracing) -> None:
    endless = HARNESSES["adam and dropout"].replace("range(5)", "iter(int, 1)")
    result = traced(endless, stop_after_backwards=4)
    assert result.trace.ended is not None
    assert (result.code, result.trace.ended.reason, result.trace.ended.backwards) == (
        0,
        "stopped",
        4,
    )


def test_lines_replace_the_hook_that_is_gone(traced: Tracing) -> None:
    script = """\
        import torch
        w = torch.ones(3, requires_grad=True)
        kept = w.exp()
        for _ in range(2):
            loss = kept.sin().sum()
            loss.backward()
        """
    result = traced(script, mode="trace", hook=False)
    assert result.trace.started is not None
    assert result.trace.started.stamps == "lines"
    reuse = result.trace.reuse
    assert reuse is not None
    assert reuse.stale_edges[0].old.at is not None
    assert reuse.stale_edges[0].old.at.line == 3
    assert reuse.stale_edges[0].holders[0].path == "kept"


def test_a_script_that_removes_the_instruments_is_reported(traced: Tracing) -> None:
    result = traced(
        """\
        import torch.autograd.graph as graph
        graph._engine_run_backward = lambda *a, **k: ()
        """
    )
    assert result.trace.ended is not None
    assert result.trace.ended.tampered != []


def test_stubs_are_used_and_named(traced: Tracing) -> None:
    result = traced(
        """\
        import torch
        from torch import nn
        from torchvision import datasets, transforms
        device = torch.device("cuda:0")
        to_input = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
        images = datasets.MNIST("data", train=True, download=True, transform=to_input)
        net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).to(device)
        for x, y in torch.utils.data.DataLoader(images, batch_size=64):
            loss = nn.functional.cross_entropy(net(x.to(device)), y.cuda())
        loss.backward()
        print(x.shape, torch.zeros(2, device="cuda").device)
        """
    )
    assert result.code == 0, result.stderr
    assert result.stdout.split() == ["torch.Size([32,", "1,", "28,", "28])", "cpu"]
    assert {one.name for one in result.trace.stubs} == {"torchvision", "cuda"}


def test_stubs_that_are_not_asked_for_are_not_reported(traced: Tracing) -> None:
    assert traced("import torch\ntorch.ones(2).to('cpu')").trace.stubs == []


def test_one_file_for_downloading(tmp_path: Path) -> None:
    (tmp_path / "gradmend_trace.py").write_text(build())
    (tmp_path / "train.py").write_text(SHARED)
    run = subprocess.run(
        [sys.executable, "gradmend_trace.py", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1
    assert "second time" in run.stderr
    trace, doubts = read_trace((tmp_path / "gradmend-trace.jsonl").read_bytes())
    assert (doubts, trace.rejected) == ([], 0)
    assert trace.reuse is not None
    assert [place.file for place in trace.reuse.reached.stack] == ["train.py"]
    assert trace.reuse.stale_edges[0].holders[0].path == "h"
