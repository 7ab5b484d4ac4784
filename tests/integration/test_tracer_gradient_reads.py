"""Lines that read a gradient and only ever find None."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing

LOOP = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for number in range(4):
    {first}
    optimizer.zero_grad()
    {second}
    net(torch.randn(8, 3)).pow(2).mean().backward()
    {third}
    optimizer.step()
"""
PRINT = "print(net.weight.grad)"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("first", []),  # None in the first pass only
        ("second", [("print(net.weight.grad)", ("net.weight",))]),
        ("third", []),
    ],
)
def test_a_line_that_only_ever_finds_none(
    traced: Tracing, where: str, found: list[tuple[str, tuple[str, ...]]]
) -> None:
    places = {"first": "pass", "second": "pass", "third": "pass", where: PRINT}
    script = HEAD + LOOP.format(**places)
    trace = traced(script).trace
    lines = script.splitlines()
    assert [
        (lines[fault.at.line - 1].strip(), fault.params)
        for fault in trace.silent
        if fault.at is not None
    ] == found
    assert all(fault.doubtful for fault in trace.silent)


def test_of_a_leaf_that_never_gets_one_none_is_no_finding(traced: Tracing) -> None:
    script = LOOP.format(first="pass", second="print(other.grad)", third="pass")
    assert traced(HEAD + "other = torch.ones(2, requires_grad=True)\n" + script).trace.silent == []


def test_the_attribute_does_what_it_did(traced: Tracing) -> None:
    script = """\
w = nn.Parameter(torch.ones(2))
assert w.grad is None
w.grad = torch.ones(2)
assert w.grad.sum() == 2
w.grad = None
assert w.grad is None
w.sum().backward()
del w.grad
assert w.grad is None
class Mine(torch.Tensor): ...
m = torch.ones(2).as_subclass(Mine).requires_grad_()
m.sum().backward()
assert m.grad is not None
try:
    w.grad = 1
except TypeError as error:
    print(error)
class Names(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(func.__self__.__name__)
        return func(*args, **(kwargs or {}))
seen = []
with Names():
    w.grad
assert seen[0] == "grad"
"""
    result = traced(HEAD + script)
    assert result.code == 0, result.stderr
    assert "Tensor" in result.stdout


def test_a_loss_made_of_a_gradient_is_traced_to_the_attribute(traced: Tracing) -> None:
    """A mode of torch, such as the one that finds where graphs end, sees torch's own name."""
    script = f"""{HEAD}
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(8, 3)).pow(2).mean().backward()
penalty = net.weight.grad.pow(2).sum()
penalty.backward()
"""
    missing = traced(script, mode="inplace").trace.missing
    assert missing is not None
    assert (missing.how, missing.op) == ("grad", "grad")


def test_warnings_name_the_lines_of_the_script(traced: Tracing) -> None:
    stderr = traced(
        """\
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.grad
        y.grad
        torch.tensor(y)
        y.sum().backward(create_graph=True)
        """
    ).stderr
    given = [line.split(" ")[0] for line in stderr.splitlines() if "UserWarning:" in line]
    assert given[:3] == ["train.py:4:", "train.py:5:", "train.py:6:"]
    assert "sandbox" not in stderr
