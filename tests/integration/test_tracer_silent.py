"""Faults that raise nothing: told where they are plain, and nowhere else."""

from __future__ import annotations

import pytest

from analyzers.patterns import missing_zero_grad
from sandbox.inside.detectors import details
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


EVALUATED = """\
import torch
from torch import nn

class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        kept = [x]
        for _ in range(10):
            kept.append(self.cell(x, kept[-1]))
        return torch.stack(kept)

model = Steps()

def evaluate():
    model.MODE()
    kept = []
    for _ in range(10):
        KEEP
    return kept

found = evaluate()
"""

COLLECTS = "kept.append(model(torch.ones(2, 4)).sigmoid())"


@pytest.mark.parametrize(
    ("mode", "keep", "behind", "reported"),
    [
        ("eval", COLLECTS, "", [["kept", "kept[-1]"]]),
        ("eval", COLLECTS, "torch.stack(found).sum().backward()", []),
        ("eval", COLLECTS.replace("sigmoid", "detach"), "", []),
        ("eval", "kept = [model(torch.ones(2, 4))]", "", []),
        ("train", COLLECTS, "", []),
    ],
)
def test_an_evaluation_that_collects_graphs_is_reported_where_nothing_is_run_backward(
    traced: Tracing, mode: str, keep: str, behind: str, reported: list[list[str]]
) -> None:
    script = EVALUATED.replace("MODE", mode).replace("KEEP", keep) + behind
    run = traced(script)
    assert run.code == 0, run.stderr
    growing = [fault for fault in run.trace.silent if fault.kind == "growing-graph"]
    assert [[holder.path for holder in fault.holders] for fault in growing] == reported


OF_THE_LIBRARY = """\
layers = [layer for _ in range(10) for layer in (nn.Linear(4, 4), nn.ReLU())]
model = nn.Sequential(*layers)
model.eval()
kept = []
for _ in range(PASSES):
    kept.append(model(torch.ones(3, 4)))
"""


@pytest.mark.parametrize(("passes", "reported"), [(2, []), (12, ["growing-graph"])])
def test_passes_of_a_model_are_counted_and_not_those_of_its_layers(
    traced: Tracing, passes: int, reported: list[str]
) -> None:
    text = "import torch\nfrom torch import nn\n" + OF_THE_LIBRARY.replace("PASSES", str(passes))
    assert [fault.kind for fault in traced(text).trace.silent] == reported


LOGGED = """\
from collections import defaultdict

class Log:
    def __init__(self):
        self.maps = defaultdict(list)

class Layer(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.fit, self.log = nn.Linear(3, 3), log

    def forward(self, x):
        weights = self.fit(x).softmax(-1)
        self.log.maps["first"].append(KEPT)
        return weights * x

class Trainer:
    def __init__(self):
        self.net = nn.Sequential(Layer(Log()), nn.Linear(3, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self):
        self.optimizer.zero_grad()
        self.net(torch.ones(2, 3)).square().mean().backward()
        self.optimizer.step()

def main():
    trainer = Trainer()
    for _ in range(12):
        trainer.step()

main()
"""


@pytest.mark.parametrize(
    ("kept", "reported"), [("weights.mean(0)", ["growing-graph"]), ("weights.detach().mean(0)", [])]
)
def test_a_log_deep_inside_a_module_is_looked_into(
    traced: Tracing, kept: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + LOGGED.replace("KEPT", kept)) == reported


EPOCHS = """
class Trainer:
    def __init__(self):
        self.net, self.history = nn.Linear(3, 1), {}
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def epoch(self):
        losses = []
        for batch in torch.randn(6, 2, 3):
            self.optimizer.zero_grad()
            losses.append(self.net(batch).square().mean())
            losses[-1].backward()
            self.optimizer.step()
        return {"loss": torch.stack(losses).mean()}

trainer = Trainer()
for epoch in range(5):
    trainer.history[KEY] = trainer.epoch()
"""


@pytest.mark.parametrize(("key", "reported"), [("epoch", ["growing-graph"]), ("'last'", [])])
def test_what_only_epochs_add_to_grows_from_look_to_look(
    traced: Tracing, key: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + EPOCHS.replace("KEY", key)) == reported


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


REPLACED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    out = net(torch.randn(5, 3))
    own = torch.autograd.grad(out.mean(), [*net.parameters()], retain_graph=True)
    out.square().mean().backward()
    for p, g in zip(net.parameters(), own):
        GIVEN
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "reported"), [("p.grad = g", []), ("p.grad += g", ["uncleared-gradients"])]
)
def test_gradients_that_are_replaced_before_a_step_hold_no_earlier_ones(
    traced: Tracing, given: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, REPLACED.replace("GIVEN", given)) == reported


RENEWED = """\
w = torch.full((3,), 0.5, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    (w - 1).square().sum().backward()
    optimizer.step()
    GIVEN
"""


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("w = w.detach().clamp(min=0).requires_grad_()", ["unfed-parameters"]),
        ("w.data.clamp_(min=0)", []),
    ],
)
def test_a_leaf_recomputed_behind_each_step_leaves_its_optimizer_with_nothing(
    traced: Tracing, given: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, RENEWED.replace("GIVEN", given)) == reported


NAMED = """\
kept = {"shares": torch.rand(4), "gain": torch.zeros(4)}
for value in kept.values():
    value.requires_grad_()
optimizer = torch.optim.SGD(kept.values(), lr=0.1)
for step in range(12):
    loss = (kept["shares"] * kept["gain"].exp() - 0.5).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        GIVEN
"""


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("kept = {k: v.clamp(0, 1) if k == 'shares' else v for k, v in kept.items()}", True),
        ("kept['shares'].clamp_(0, 1)", False),
        ("if step == 3: kept['shares'] = kept['shares'].clone()", False),  # it learns no more
    ],
)
def test_leaves_whose_names_go_to_new_tensors_behind_each_step(
    traced: Tracing, given: str, reported: bool
) -> None:
    found = silent_kinds(traced, NAMED.replace("GIVEN", given))
    assert found == (["unfed-parameters"] if reported else [])


CONTENDING = """\
made, judge = nn.Linear(2, 3), nn.Linear(3, 1)
first = torch.optim.SGD(made.parameters(), lr=0.01)
second = torch.optim.SGD(judge.parameters(), lr=0.01)
for _ in range(8):
    first.zero_grad()
    second.zero_grad()
    out = made(torch.randn(16, 2))
    judge(out).mean().neg().backward()
    first.step()
    CLEARED
    (SIGN * judge(out.detach()).mean()).backward()
    second.step()
"""


@pytest.mark.parametrize(
    ("sign", "cleared", "reported"),
    [
        ("0.5", "pass", ["uncleared-gradients"]),  # what the one step lowers, the other raises
        ("-0.5", "pass", []),  # two losses of one step
        ("0.5", "second.zero_grad()", []),
    ],
)
def test_gradients_of_another_step_that_pull_the_other_way(
    traced: Tracing, sign: str, cleared: str, reported: list[str]
) -> None:
    script = CONTENDING.replace("SIGN", sign).replace("CLEARED", cleared)
    assert silent_kinds(traced, script) == reported
