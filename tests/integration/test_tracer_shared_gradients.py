"""Gradients that share values with what a script keeps, and steps that use none."""

from __future__ import annotations

import pytest

from analyzers.patterns import missing_zero_grad
from sandbox.inside.detectors import details
from tests.tracing import HEAD, Tracing, silent_kinds

ROUNDS = """
class Anchored:
    def __init__(self, net):
        self.net, self.full = net, None

    def gradients(self, x):
        self.net.zero_grad(set_to_none=False)
        self.net(x).square().mean().backward()
        return [TAKEN for p in self.net.parameters()]

    def renew(self):
        self.full = self.gradients(torch.ones(2, 3))

anchored = Anchored(nn.Linear(3, 1))
for turn in range(ROUNDS):
    anchored.renew()
    for batch in torch.randn(12, 2, 3):
        anchored.gradients(batch)
"""


@pytest.mark.parametrize(
    ("taken", "rounds", "doubtful"),
    [
        ("p.grad", 3, [False]),
        ("p.grad.detach()", 3, [False]),
        ("p.grad.data.view(-1)", 3, [False]),
        ("p.grad", 1, [True]),
        ("p.grad.clone()", 3, []),
        ("torch.cat([p.grad])", 3, []),
    ],
)
def test_what_shares_its_values_with_gradients_is_rewritten(
    traced: Tracing, taken: str, rounds: int, doubtful: list[bool]
) -> None:
    script = ROUNDS.replace("TAKEN", taken).replace("ROUNDS", str(rounds))
    reported = traced(HEAD + script).trace.silent
    reported = [fault for fault in reported if fault.kind != "unmoved-leaves"]  # nothing steps here
    named = [fault for fault in reported if fault.holders[0].path == "self.full"]
    assert [fault.doubtful for fault in named] == doubtful
    assert {fault.kind for fault in reported} <= {"overwritten-gradient"}


def test_fresh_gradients_leave_what_is_kept_alone(traced: Tracing) -> None:
    script = ROUNDS.replace("TAKEN", "p.grad").replace("ROUNDS", "3")
    assert silent_kinds(traced, script.replace("zero_grad(set_to_none=False)", "zero_grad()")) == []


def test_gradients_in_lists_of_a_list_are_doubted_where_a_later_call_writes_to_them(
    traced: Tracing,
) -> None:
    result = traced("""\
        import torch
        net = torch.nn.Linear(3, 1)
        net(torch.ones(3)).sum().backward()
        rows = []
        for _ in range(2):
            net.zero_grad(set_to_none=False)
            net(torch.ones(3)).sum().backward()
            rows.append([p.grad for p in net.parameters()])
        """)
    (fault,) = result.trace.silent
    assert fault.kind == "overwritten-gradient"
    assert fault.doubtful
    assert fault.holders[0].path == "rows[0][0]"


def test_what_is_kept_of_a_pass_that_begins_without_gradients_is_doubted(traced: Tracing) -> None:
    reported = traced("""\
        import torch
        net = torch.nn.Linear(3, 2)
        for _ in range(2):
            net.zero_grad()
            kept, out = {}, net(torch.ones(3))
            for n in range(2):
                net.zero_grad(set_to_none=False)
                out[n].backward(retain_graph=True)
                kept[n] = {"of": [p.grad for p in net.parameters()]}
        """).trace.silent
    rewritten = [fault for fault in reported if fault.kind == "overwritten-gradient"]
    assert rewritten[-1].holders[0].path == "kept[0]['of'][0]"


WAITING = """
class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        self.passed = 0

    def zero_grad(self):
        for n, group in enumerate(self.param_groups):
            if CLEARED:
                group["params"][0].grad = None

    @torch.no_grad()
    def step(self):
        self.passed += 1
        for n, group in enumerate(self.param_groups):
            if n == 0 or self.passed % 2 == 0:
                for p in group["params"]:
                    WRITTEN.sub_(RATE * p.grad)

net = nn.Linear(3, 1)
optimizer = Own([{"params": [net.weight]}, {"params": [net.bias]}])
for _ in range(20):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("written", ["p", "p.data"])
@pytest.mark.parametrize(
    ("cleared", "rate", "reported"),
    [
        ("n == 0 or self.passed % 2 == 0", "0.01", []),  # a group that waits
        ("n == 0 or self.passed % 2 == 0", "0.01 * (n == 0)", []),
        ("n == 0", "0.01 * (n == 0)", []),  # a group that stays as it is
        ("n > 0", "0.01", ["net.weight"]),
    ],
)
def test_only_steps_that_move_a_parameter_use_its_gradient(
    traced: Tracing, written: str, cleared: str, rate: str, reported: list[str]
) -> None:
    script = WAITING.replace("CLEARED", cleared).replace("WRITTEN", written).replace("RATE", rate)
    faults = traced(HEAD + script).trace.silent
    assert [name for fault in faults for name in fault.params] == reported
    assert all("nothing has cleared them" in fault.detail for fault in faults)


def test_a_state_that_is_renewed_behind_what_is_run_backward_is_the_first_holder(
    traced: Tracing,
) -> None:
    (fault,) = traced("""\
        import torch
        class Cell(torch.nn.Linear):
            level = torch.zeros(3)
            def forward(self, x):
                out = torch.tanh(super().forward(x) + self.level)
                self.level = 0.9 * self.level + 0.1 * out
                return out
        cells = torch.nn.ModuleList(Cell(3, 3) for _ in range(2))
        for x in torch.ones(8, 3):
            out = cells[1](cells[0](x))
            out.sum().backward(retain_graph=True)
        """).trace.silent
    assert fault.kind == "reaching-back"
    carriers = [holder.path for holder in fault.holders if holder.when == "freed"]
    assert carriers == ["cells.0.level", "cells.1.level"]


TWO_THAT_TRAIN = """\
teacher, maker, critic = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1)
teaches = torch.optim.SGD(teacher.parameters(), lr=0.1)
for turn in range(70):
    teaches.zero_grad()
    teacher(torch.ones(2, 3)).square().mean().backward()
    teaches.step()
makes, judges = (torch.optim.SGD(part.parameters(), lr=0.1) for part in (maker, critic))
for turn in range(6):
    made = maker(torch.ones(2, 3))
    FIRST
    critic(made.detach()).square().mean().backward()
    judges.step()
    LAST
    critic(made).mean().backward()
    makes.step()
    makes.zero_grad()
"""


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("pass", "judges.zero_grad()", ["uncleared-gradients"]),
        ("judges.zero_grad()", "pass", []),
    ],
)
def test_what_begins_late_is_looked_at_like_what_begins_the_script(
    traced: Tracing, first: str, last: str, expected: list[str]
) -> None:
    script = TWO_THAT_TRAIN.replace("FIRST", first).replace("LAST", last)
    assert silent_kinds(traced, script) == expected


@pytest.mark.parametrize("kind", ["SparseAdam", "SGD"])
def test_sparse_gradients_are_measured_like_others(traced: Tracing, kind: str) -> None:
    result = traced(
        HEAD
        + f"""\
table = nn.Embedding(6, 3, sparse=True)
optimizer = torch.optim.{kind}(table.parameters(), lr=0.1)
for step in range(6):
    table(torch.tensor([0, step % 2])).square().sum().backward()
    optimizer.step()
"""
    )
    assert result.code == 0, result.stderr
    assert [fault.kind for fault in result.trace.silent] == ["uncleared-gradients"]


@pytest.mark.parametrize(
    "name", ["UNTOUCHED", "FOREIGN", "CONTENDING", "TAKEN", "PILED", "CLIMBED"]
)
def test_what_the_run_says_is_what_the_pattern_asks_for(name: str) -> None:
    assert getattr(details, name) == getattr(missing_zero_grad, name)
