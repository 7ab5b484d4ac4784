"""Faults that raise nothing: reported where they are plain, and nowhere else."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing, silent_kinds

TWO_LISTS = """\
body = nn.Linear(3, 3)
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    optimizer.zero_grad(set_to_none=False)
    body(x).square().mean().backward()
    early = [p.grad for p in body.parameters()]
    optimizer.zero_grad(set_to_none=False)
    body(-x).abs().mean().backward()
    late = [p.grad for p in body.parameters()]
    mixed = [a + b for a, b in zip(early, late)]
    for p, g in zip(body.parameters(), mixed):
        p.grad = g
    optimizer.step()
"""


def test_two_lists_of_one_gradient(traced: Tracing) -> None:
    fault = traced(HEAD + TWO_LISTS).trace.silent[0]
    assert fault.kind == "overwritten-gradient"
    assert [holder.path for holder in fault.holders] == ["early", "late"]


def test_two_lists_of_copies_leave_no_more_than_a_doubt_of_a_short_name(traced: Tracing) -> None:
    reported = traced(HEAD + TWO_LISTS.replace("[p.grad for", "[p.grad.clone() for")).trace.silent
    assert [(fault.doubtful, fault.holders[0].path) for fault in reported] == [(True, "g")]


CLIMBING = """\
body = nn.Linear(3, 1)
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
for _ in range(6):
    optimizer.zero_grad()
    x = torch.randn(5, 3)
    for _ in range(3):
        x = x.detach().requires_grad_()
        body(x).square().mean().backward()
        x = x + 0.1 * x.grad.sign()
    CLEAR
    body(x.detach()).abs().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("clear", "expected"),
    [("pass", [("uncleared-gradients", True)]), ("optimizer.zero_grad()", [])],
)
def test_what_an_input_climbs_by_stays_in_the_weights_unless_it_is_cleared(
    traced: Tracing, clear: str, expected: list[tuple[str, bool]]
) -> None:
    result = traced(HEAD + CLIMBING.replace("CLEAR", clear))
    assert [(fault.kind, fault.doubtful) for fault in result.trace.silent] == expected


BY_HAND = """\
w = torch.ones(3, requires_grad=True)
for _ in range(3):
    (w * w).sum().backward()
    UPDATE
    w.grad = None
"""


@pytest.mark.parametrize(
    "update",
    ["with torch.no_grad(): w -= 0.1 * w.grad", "w.data.add_(w.grad, alpha=-0.1)"],
)
def test_updates_by_hand_are_steps_and_a_reference_holds_still(
    traced: Tracing, update: str
) -> None:
    script = HEAD + BY_HAND.replace("UPDATE", update)
    moving = traced(script, gradients=True).trace.steps
    still = traced(script, reference="kept").trace.steps
    assert [step.at.line for step in moving if step.at is not None] == [6, 6, 6]
    norms = [step.gradients[0].norm for step in moving[:3]]
    assert norms == sorted(set(norms), reverse=True)
    assert len({step.gradients[0].norm for step in still[:3]}) == 1
    assert still[0].gradients[0].norm == norms[0]


GATHERED = """\
w = torch.ones(3, requires_grad=True)
for step in range(8):
    (w * w - step).pow(2).sum().backward()
    UPDATE
"""


@pytest.mark.parametrize(
    ("update", "reported"),
    [
        ("with torch.no_grad(): w -= 0.01 * w.grad", ["uncleared-gradients"]),
        ("w.data -= 0.01 * w.grad", ["uncleared-gradients"]),
        ("w.data -= 0.01 * w.grad; w.grad.data.zero_()", []),
        ("w.data -= 0.01 * w.grad; w.grad *= 0.9", []),
        ("if step % 4 == 3: w.data -= 0.01 * w.grad; w.grad = None", []),
        ("pass", []),
    ],
)
def test_updates_by_hand_clear_what_they_have_used(
    traced: Tracing, update: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, GATHERED.replace("UPDATE", update)) == reported


def test_accumulated_gradients_are_one_step(traced: Tracing) -> None:
    script = HEAD + BY_HAND.replace("UPDATE", "(w + 1).sum().backward()")
    steps = traced(script, gradients=True).trace.steps
    assert [step.at.line for step in steps if step.at is not None] == [7, 7, 7]


def test_a_replaced_entry_is_named_with_its_file(traced: Tracing) -> None:
    ended = traced(HEAD + "torch.Tensor.backward = lambda *a: None\n").trace.ended
    assert ended is not None
    assert ended.tampered == ["it replaced torch.Tensor.backward (train.py:4)"]


def test_a_view_made_without_gradients(traced: Tracing) -> None:
    script = """\
    memory = nn.Linear(3, 3)(torch.ones(2, 3))
    with torch.no_grad():
        slot = memory[0]
    slot.copy_(torch.ones(3))
    """
    record = traced(HEAD + script.replace("\n    ", "\n").lstrip()).trace.inplace
    assert record is not None
    assert record.kind == "view"
    assert record.holders[0].path == "slot"


def test_a_traceback_spells_files_as_the_script_knows_them(traced: Tracing) -> None:
    script = """\
    import torch
    def fail():
        try:
            torch.ones(2) @ torch.ones(3)
        except RuntimeError as error:
            raise ValueError("worse") from error
    torch.nn.Linear(2, 2)(torch.ones(3, 3))
    """
    shown = traced(script).stderr
    assert 'File "train.py", line 7, in <module>' in shown
    assert 'File "torch/nn/modules/linear.py"' in shown
    assert "sandbox" not in shown
    assert "site-packages" not in shown


KEPT = """
class Penalty:
    def __init__(self, net):
        self.net, self.kept = net, None

    def take(self):
        self.kept = [TAKEN for p in self.net.parameters()]

net = nn.Linear(3, 1)
penalty = Penalty(net)
for turn in range(9):
    net.zero_grad(set_to_none=False)
    net(torch.ones(2, 3)).square().mean().backward()
    if turn == 4:
        penalty.take()
"""


@pytest.mark.parametrize(
    ("taken", "expected"), [("p.grad", ["overwritten-gradient"]), ("p.grad + 0", [])]
)
def test_what_an_object_took_late_is_rewritten(
    traced: Tracing, taken: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + KEPT.replace("TAKEN", taken)) == expected


PHASES = """\
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    if step % EVERY == 0:
        optimizer.zero_grad()
    net(torch.ones(2, 3)).square().sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("every", "reported"), [(1, []), (3, ["uncleared-gradients"])])
def test_most_steps_on_earlier_gradients_are_reported_between_cleared_ones(
    traced: Tracing, every: int, reported: list[str]
) -> None:
    assert silent_kinds(traced, PHASES.replace("EVERY", str(every))) == reported


EPISODES = """\
import torch
policy, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
both = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
for episode in range(EPISODES):
    scores = []
    for step in range(STEPS):
        state = torch.ones(4) * step
        scores.append(policy(state).log_softmax(0)[0])
        both.zero_grad()
        (critic(state).square().sum() + policy(-state).sum()).backward()
        both.step()
    total = torch.stack(scores).sum()
    WALKED
"""


@pytest.mark.parametrize(
    ("episodes", "steps", "run_backward", "reported"),
    [
        (2, 12, "total.backward()", []),
        (1, 12, "total.detach()", ["no backward has used any of it"]),
        (12, 4, "kept = [*globals().get('kept', []), total]", ["no backward has used any of it"]),
    ],
)
def test_what_is_gathered_is_doubted_until_it_is_run_backward(
    traced: Tracing, episodes: int, steps: int, run_backward: str, reported: list[str]
) -> None:
    script = EPISODES.replace("EPISODES", str(episodes)).replace("STEPS", str(steps))
    trace = traced(script.replace("WALKED", run_backward)).trace
    growing = [fault for fault in trace.silent if fault.kind == "growing-graph"]
    assert [fault.detail for fault in growing] == reported
