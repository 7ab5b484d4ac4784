"""Parameters that need no gradient: the script moves them itself, or uses none of their results."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing, silent_kinds

FOLLOWER = """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.target = nn.Linear(3, 3), nn.Linear(3, 3)
pair = Pair()
optimizer = torch.optim.SGD(pair.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(4, 3)
    with torch.no_grad():
        wanted = pair.target(x)
    optimizer.zero_grad()
    (pair.net(x) - wanted).square().mean().backward()
    optimizer.step()
    UPDATE
"""


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("pair.target.weight.data.lerp_(pair.net.weight.data, 0.1)", ["pair.target.bias"]),
        ("[t.data.lerp_(p.data, 0.1) for t, p in zip(*map(nn.Module.parameters, BOTH))]", []),
        ("", ["pair.target.bias", "pair.target.weight"]),
    ],
)
def test_what_the_script_moves_itself_needs_no_gradient(
    traced: Tracing, update: str, expected: list[str]
) -> None:
    update = update.replace("BOTH", "(pair.target, pair.net)")
    trace = traced(HEAD + FOLLOWER.replace("UPDATE", update)).trace
    assert sorted(name for fault in trace.silent for name in fault.params) == expected
    moved = {"pair.target.bias", "pair.target.weight"} - {*expected}
    assert {p.name for p in trace.parameters if p.excused} == moved


HOOKED = """\
class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.net[1].register_forward_hook(self.keep)
    def keep(self, module, inputs, output):
        self.kept = KEPT
    def forward(self, x):
        CALL
        return self.kept
features, head = Features(), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*features.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    head(features(torch.randn(4, 3))).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("call", "kept", "reported"),
    [
        ("_ = self.net(x)", "output", False),
        ("self.net(x)", "output", False),
        ("_ = self.net(x.mul(torch.ones(3)))", "output", False),
        ("(self.net(\n            x\n        ))", "output", False),
        ("scores = self.net(x)", "output", True),  # it may have been meant for a loss
        ("self.net(x)", "output.detach()", True),
    ],
)
def test_layers_behind_a_hook_whose_result_is_dropped_need_no_gradient(
    traced: Tracing, call: str, kept: str, reported: bool
) -> None:
    script = HOOKED.replace("CALL", call).replace("KEPT", kept)
    assert bool(silent_kinds(traced, HEAD + script)) is reported
