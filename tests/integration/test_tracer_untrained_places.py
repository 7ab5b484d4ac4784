"""Where a parameter without gradient was used, and where its graph ended."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing, silent_kinds


def test_a_loss_that_reaches_no_parameter_is_reported_with_its_backward(traced: Tracing) -> None:
    result = traced("""\
        import torch
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = torch.tensor([net(torch.ones(3)).item()]).mean()
            loss.requires_grad = True
            loss.backward()
            optimizer.step()
        """)
    (fault,) = result.trace.silent
    assert fault.kind == "unfed-parameters"
    assert fault.at is None
    assert fault.call is not None
    assert fault.call.at.line == 7


IN_A_DICTIONARY = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(3, 2)
        self.usual = nn.ParameterDict({k: nn.Parameter(torch.ones(())) for k in "ab"})
    def forward(self, x):
        return self.own(x) + USED
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""

OF_A_COPY = """\
import copy
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD([*net.parameters()], lr=0.1)
for _ in range(4):
    trial = LEARNER
    optimizer.zero_grad()
    trial(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("used", "reported"),
    [
        ("torch.tensor([self.usual[k] for k in 'ab'])", ["unfed-parameters"]),
        ("torch.stack([self.usual[k] for k in 'ab'])", []),
        ("self.usual['a']", []),  # the other belongs to somebody else
    ],
)
def test_weights_in_a_dictionary_are_used_with_their_owner(
    traced: Tracing, used: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, IN_A_DICTIONARY.replace("USED", used)) == reported


@pytest.mark.parametrize(
    ("learner", "reported"), [("copy.deepcopy(net)", ["unfed-parameters"]), ("net", [])]
)
def test_where_only_a_copy_gets_gradients_nothing_learns(
    traced: Tracing, learner: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, OF_A_COPY.replace("LEARNER", learner)) == reported


NEXT_TO = """\
net = nn.Linear(3, 1)
copied = nn.Linear(3, 1)
share = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([share], lr=0.1)
for _ in range(4):
    mixed = {name: share.sigmoid() * p for name, p in net.state_dict().items()}
    copied.load_state_dict(mixed)
    optimizer.zero_grad()
    copied(torch.ones(2, 3)).sum().backward()
    GIVEN
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [("pass", ["unfed-parameters"]), ("share.grad = torch.ones(1)", [])],
)
def test_an_optimizer_behind_walks_that_reach_nobody_trains_nothing(
    traced: Tracing, given: str, expected: list[str]
) -> None:
    trains = (
        "own = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.ones(2, 3)).sum().backward()\n"
    )
    script = NEXT_TO.replace("GIVEN", given).replace("for _", f"{trains}own.step()\nfor _", 1)
    assert silent_kinds(traced, script) == expected


LOOKED_UP = """\
class Tariff(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(4, 2), nn.Linear(2, 1)
    def forward(self, codes):
        return self.out(USED)
net = Tariff()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(7):
    optimizer.zero_grad()
    net(torch.tensor([0, 3])).square().mean().backward()
    optimizer.step()
    MOVED
"""


@pytest.mark.parametrize(
    ("used", "moved", "expected"),
    [
        ("self.table.weight.data[codes]", "pass", [("unfed-parameters", True)]),
        ("self.table.weight.data[codes]", "net.table.weight.data.mul_(0.9)", []),
        ("self.table(codes)", "pass", []),
    ],
)
def test_what_is_only_read_past_its_graph_leaves_a_doubt(
    traced: Tracing, used: str, moved: str, expected: list[tuple[str, bool]]
) -> None:
    script = LOOKED_UP.replace("USED", used).replace("MOVED", moved)
    found = traced(HEAD + script).trace.silent
    assert [(fault.kind, fault.doubtful) for fault in found] == expected


IN_A_FUNCTION = """\
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(3))
    def forward(self):
        return self.raw * 2
def tune():
    mix, head = Mix(), nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*mix.parameters(), *head.parameters()], lr=0.1)
    for turn in range(6):
        optimizer.zero_grad()
        head(mix().detach()).square().sum().backward()
        optimizer.step()
        MOVED
tune()
"""


@pytest.mark.parametrize(
    ("moved", "expected"),
    [("pass", ["unfed-parameters"]), ("mix.raw.data.mul_(0.9)", [])],
)
def test_a_module_that_is_gone_at_the_end_still_reports(
    traced: Tracing, moved: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, IN_A_FUNCTION.replace("MOVED", moved)) == expected


LOST = """\
class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle, self.net = nn.Parameter(torch.zeros(())), nn.Linear(2, 1)
    def forward(self, x):
        c, s = self.angle.cos(), self.angle.sin()
        turn = MADE
        return self.net(x @ turn)
net = Turned()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("torch.tensor([[c, -s], [s, c]])", 8),
        ("torch.stack([c, -s, s, c]).view(2, 2).detach()", 8),
        ("torch.full((2, 2), float(c))", 8),
    ],
)
def test_a_slower_run_reports_where_a_parameter_without_gradient_lost_its_graph(
    traced: Tracing, made: str, line: int
) -> None:
    script = LOST.replace("MADE", made)
    (reported,) = traced(HEAD + script).trace.silent
    assert reported.at is None
    (reported,) = traced(HEAD + script, mode="inplace").trace.silent
    assert reported.params == ("net.angle",)
    assert reported.at is not None
    assert reported.at.line - HEAD.count("\n") == line - 1


def test_the_lines_of_an_iteration_tell_which_branch_ran(traced: Tracing) -> None:
    script = """\
net, head = nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    if step < 0:
        loss = net(torch.ones(2, 3)).mean() + head(torch.ones(2, 3)).detach().mean()
    else:
        loss = net(torch.ones(2, 3)).mean()
    loss.backward()
    optimizer.step()
"""
    ((file, lines),) = traced(HEAD + script).trace.silent[0].ran
    assert file == "train.py"
    assert set(lines) == {6, 7, 8, 11, 12, 13}
