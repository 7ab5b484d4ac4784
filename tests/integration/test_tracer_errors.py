"""In-place and missing-graph errors, silent faults, and what a script needs."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

STEPPED = """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def fit(x):
    score = net(x)
    score.mean().backward(retain_graph=True)
    optimizer.step()
    score.square().mean().backward()
fit(torch.ones(2, 3))
"""


def test_stepped_weight_is_named_at_first_sight(traced: Tracing) -> None:
    inplace = traced(STEPPED).trace.inplace
    assert inplace is not None
    assert (inplace.kind, inplace.is_parameter, inplace.parameter) == (
        "saved",
        True,
        "net.1.weight",
    )
    assert inplace.node is not None
    assert inplace.node.at is not None
    assert inplace.node.at.line == 5
    assert inplace.reached is not None
    assert inplace.reached.at.line == 8
    assert inplace.changes == ()


def test_second_run_names_the_line_that_changed_it(traced: Tracing) -> None:
    inplace = traced(STEPPED, mode="inplace").trace.inplace
    assert inplace is not None
    change = inplace.changes[0]
    assert change.at is not None
    assert change.at.line == 7
    assert "torch/optim/sgd.py" in (change.library or "")


def test_activation_changed_in_a_function_that_has_returned(traced: Tracing) -> None:
    script = """\
        import torch
        w = torch.ones(3, requires_grad=True)
        def squash(a):
            s = torch.sigmoid(a)
            s += 1
            return s * 2
        squash(w).sum().backward()
        """
    inplace = traced(script, mode="inplace").trace.inplace
    assert inplace is not None
    assert not inplace.is_parameter
    assert [(h.scope, h.path) for h in inplace.holders] == [("squash", "s")]
    assert [(c.at.line, c.op) for c in inplace.changes if c.at] == [(5, "add_")]


@pytest.mark.parametrize(
    ("line", "kind", "path"),
    [("w += 1", "leaf", "w"), ("a, b = (w * 2).unbind(0); a.exp_()", "view", "a")],
)
def test_refused_operations(traced: Tracing, line: str, kind: str, path: str) -> None:
    trace = traced(f"import torch\nw = torch.ones(2, 3, requires_grad=True)\n{line}\n").trace
    assert trace.inplace is not None
    assert (trace.inplace.kind, trace.inplace.holders[0].path) == (kind, path)
    assert trace.inplace.at is not None
    assert trace.inplace.at.line == 3


INFERRED = "with torch.inference_mode():\n    q = w.clone().requires_grad_()\n"
MISSING = [
    ("loss = torch.tensor(float((w * 2).sum().item()))", "item", 3),
    ("loss = (w * 2).data.sum()", "data", 3),
    ("with torch.no_grad():\n    y = w * 2\nloss = y.sum()", "no_grad", 4),
    ("loss = torch.stack([w, w]).argmax(0).float().sum()", "argmax", 3),
    ("loss = torch.from_numpy((w * 2).detach().numpy()).sum()", "detach", 3),
    (f"{INFERRED}loss = q.exp().sum()", "inference", 5),
    (f"{INFERRED}loss = q.argmax().float()", "argmax", 5),
]


@pytest.mark.parametrize(("lines", "how", "ended"), MISSING)
def test_where_the_graph_ended(traced: Tracing, lines: str, how: str, ended: int) -> None:
    script = f"import torch\nw = torch.ones(3, requires_grad=True)\n{lines}\nloss.backward()\n"
    missing = traced(script, mode="inplace").trace.missing
    assert missing is not None
    assert (missing.how, missing.ended_at and missing.ended_at.line) == (how, ended)
    assert missing.holders[0].path == "loss"


@pytest.mark.parametrize(
    ("lines", "how", "path"),
    [
        ("w = w - 0.1 * w\n(w * w).sum().backward()\nw = w - w.grad * 2", "nonleaf", "w"),
        ("(w * w).backward()", "non_scalar", "w"),
        ("y = w * w\nprint(y.numpy())", "numpy", "y"),
        ("import copy\nbox = {'y': w * w}\ncopy.deepcopy(box)", "deepcopy", "box['y']"),
        ("z = w.exp().detach().requires_grad_()\ntorch.autograd.grad(w.sum(), [z])", "unused", "z"),
        ("y = w * w\nloss = y.sum().item()\nloss.backward()", "item", "loss"),
    ],
)
def test_kinds_of_missing_graphs(traced: Tracing, lines: str, how: str, path: str) -> None:
    script = f"import torch\nw = torch.ones(3, requires_grad=True)\n{lines}\n"
    missing = traced(script).trace.missing
    assert missing is not None
    assert (missing.how, missing.holders[0].path) == (how, path)


LOOP = """\
import torch
net = torch.nn.Linear(3, 1)
other = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*net.parameters(), other], lr=0.01)
total, kept = 0.0, []
for _ in range(9):
    loss = net(torch.ones(2, 3)).square().mean()
    {zero}
    loss.backward()
    optimizer.step()
    {after}
"""
ZERO = "optimizer.zero_grad()"


@pytest.mark.parametrize(
    ("zero", "after", "kind"),
    [
        (ZERO, "total += loss", "growing-graph"),
        (ZERO, "kept.append(loss)", "growing-graph"),
        ("pass", "total += loss.item()", "uncleared-gradients"),
        ("net.weight.grad is None or net.weight.grad.zero_(); net.bias.grad = None",
         "kept.append(net.weight.grad)", "overwritten-gradient"),
    ],
)  # fmt: skip
def test_silent_faults(traced: Tracing, zero: str, after: str, kind: str) -> None:
    trace = traced(LOOP.format(zero=zero, after=after)).trace
    assert [fault.kind for fault in trace.silent] == [kind]


def test_bounded_keeping_is_no_fault(traced: Tracing) -> None:
    """All that can be doubted is the parameter that the script never uses."""
    after = "kept.append(loss.detach()); total = loss"
    silent = traced(LOOP.format(zero=ZERO, after=after)).trace.silent
    assert [(fault.params, fault.doubtful) for fault in silent] == [(("other",), True)]


def test_parameter_without_gradient(traced: Tracing) -> None:
    trace = traced(
        """\
        import torch
        class Pair(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder, self.head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
            def forward(self, x):
                return self.head(self.encoder(x).detach())
        net = Pair()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        """
    ).trace
    assert [fault.kind for fault in trace.silent] == ["unfed-parameters"]
    assert trace.silent[0].params == ("net.encoder.weight", "net.encoder.bias")


@pytest.mark.parametrize(
    ("script", "kind", "name"),
    [
        (
            "import package_nobody_has.part as part\npart.Net().parameters()",
            "package",
            "package_nobody_has",
        ),
        ("import os\nos.path.getsize('data/points.csv')", "file", "data/points.csv"),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--data')\n"
         "p.parse_args(['--data'])", "argument", "argument --data: expected one argument"),
    ],
)  # fmt: skip
def test_needs(traced: Tracing, script: str, kind: str, name: str) -> None:
    result = traced(script)
    assert result.code != 0
    assert [(need.kind, need.name) for need in result.trace.needs] == [(kind, name)]


def test_a_model_of_inference_mode_fails_as_it_does_alone(traced: Tracing) -> None:
    script = """\
        import torch
        with torch.inference_mode():
            net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        (net(torch.ones(2, 3)) * 2).sum().backward()
        optimizer.step()
        """
    result = traced(script)
    assert result.trace.failed is not None
    assert "Inplace update to inference tensor" in result.trace.failed.message


def test_an_error_of_the_tracer_at_a_step_leaves_the_script_alone(traced: Tracing) -> None:
    script = """\
        import torch
        class Odd(torch.nn.Parameter):
            @property
            def _version(self):
                raise RuntimeError("counts nothing")
        weight = Odd(torch.ones(2))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (weight * 3).sum().backward()
            optimizer.step()
        print(weight.sum().item())
        """
    result = traced(script, notes=1)
    assert (result.code, result.trace.failed) == (0, None)
    assert result.trace.ended is not None
    assert ["counts nothing" in note for note in result.trace.ended.truncated] == [True]


def test_the_exception_is_reported_as_python_reports_it(traced: Tracing) -> None:
    result = traced(STEPPED)
    failed = result.trace.failed
    assert failed is not None
    assert failed.type == "RuntimeError"
    assert [(f.file, f.line) for f in failed.frames][:2] == [("train.py", 9), ("train.py", 8)]
    assert failed.frames[1].code == "score.square().mean().backward()"
    assert "sandbox/inside" not in result.stderr
    assert result.stderr.count("Traceback (most recent call last)") == 1
