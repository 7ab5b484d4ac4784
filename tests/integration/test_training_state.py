"""What a run records of its training where it is to be compared with another version's."""

from __future__ import annotations

import pytest

from sandbox.records import Step
from tests.tracing import Traced, Tracing

SCRIPT = """\
import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.2), nn.Linear(4, 1))
slow = copy.deepcopy(net)
optimizer = torch.optim.SGD([{"params": net[0].parameters(), "lr": 0.5},
                             {"params": net[1:].parameters()}], lr=0.1, momentum=0.9)
x = torch.randn(8, 3)
for step in range(STEPS):
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.dtype, float(loss))
"""


def run(traced: Tracing, steps: int = 5, **job: object) -> Traced:
    result = traced(SCRIPT.replace("STEPS", str(steps)), gradients=True, **job)
    assert result.code == 0, result.stderr
    return result


def test_a_step_has_settings_values_updates_and_buffers(traced: Tracing) -> None:
    first, second = run(traced, state=True).trace.steps[:2]
    assert (first.kind, first.count, second.count) == ("SGD", 1, 2)
    assert [settings["lr"] for settings in first.settings] == [[0.5], [0.1]]
    assert [g.group for g in first.gradients] == [0, 0, 1, 1, 1, 1]
    for before, after in zip(first.gradients, second.gradients, strict=True):
        moved = [b - a for a, b in zip(before.values[1:], after.values[1:], strict=True)]
        assert moved == pytest.approx(before.change, abs=1e-6)
    assert {"BatchNorm1d.running_mean", "BatchNorm1d.running_var"} < names(first)
    assert "Linear.weight" in names(first)  # of the copy, which no optimizer has
    assert first.random != second.random  # dropout has drawn


def names(step: Step) -> set[str]:
    return {other.name for other in step.others}


def test_what_is_left_at_the_end_is_recorded(traced: Tracing) -> None:
    final = run(traced, state=True).trace.final
    assert final is not None
    assert final.optimizer_steps == [5]
    assert len(final.values) == 6


def test_nothing_of_it_is_recorded_unless_it_is_asked_for(traced: Tracing) -> None:
    trace = run(traced).trace
    assert trace.final is None
    assert not any(step.others or step.settings or step.random for step in trace.steps)
    assert not any(g.values or g.change for step in trace.steps for g in step.gradients)


def test_held_steps_are_read_beyond_the_first_64(traced: Tracing) -> None:
    late = [s for s in run(traced, 200, frozen_steps=True).trace.steps if s.n > 64]
    assert len(late) > 10
    assert all(any(g.norm > 0 for g in step.gradients) for step in late)


def test_steps_of_two_optimizers_are_sampled_alike(traced: Tracing) -> None:
    script = SCRIPT.replace("STEPS", "120").replace(
        "optimizer.step()\n", "optimizer.step(); other.step()\n"
    )
    script = script.replace("x = ", "other = torch.optim.SGD(slow.parameters(), lr=0.1)\nx = ")
    steps = traced(script, gradients=True).trace.steps
    counts = [[s.count for s in steps if s.optimizer == number] for number in (0, 1)]
    assert counts[0] == counts[1]
    assert counts[0][-1] == 120


def test_a_run_in_double_draws_what_the_script_draws(traced: Tracing) -> None:
    plain, double = run(traced, state=True), run(traced, state=True, double=True)
    assert plain.stdout.split()[0] == "torch.float32"
    assert double.stdout.split()[0] == "torch.float64"
    assert float(double.stdout.split()[1]) == pytest.approx(float(plain.stdout.split()[1]), 1e-4)
    assert [s.random for s in plain.trace.steps] == [s.random for s in double.trace.steps]
    assert double.trace.precision is not None
    assert double.trace.precision.asked == []


def test_a_run_in_double_names_the_precisions_that_were_asked_for(traced: Tracing) -> None:
    script = SCRIPT.replace("STEPS", "2").replace(
        "loss = net(x)", "with torch.autocast('cpu', dtype=torch.bfloat16):\n        y = net(x)\n"
        "    loss = y.half()",
    )  # fmt: skip
    precision = traced(script, gradients=True, double=True).trace.precision
    assert precision is not None
    assert precision.asked == ["autocast bfloat16", "float16"]


def test_held_steps_may_draw_the_scripts_own_numbers(traced: Tracing) -> None:
    held = {"frozen_steps": True}
    own = run(traced, **held, own_random=True).stdout
    assert own == run(traced, **held, own_random=True).stdout
    assert own != run(traced, **held).stdout


def test_a_run_is_stopped_after_so_many_steps(traced: Tracing) -> None:
    ended = run(traced, 50, state=True, stop_after_steps=7).trace.ended
    assert ended is not None
    assert (ended.reason, ended.steps) == ("stopped", 7)


def test_sets_of_texts_may_come_in_another_order(traced: Tracing) -> None:
    script = """\
        words = {"ash", "birch", "cedar", "elm", "fir"}
        print(list(words), [w for w in words], "".join(words), sorted(words))
        for word in words:
            print(word)
        print(*words, [*{1, 2, 3}], list({"a": 1, "b": 2}))
        """
    plain, other = traced(script).stdout, traced(script, other_set_order=True).stdout
    assert plain != other
    assert sorted(plain) == sorted(other)
    assert "[1, 2, 3] ['a', 'b']" in other
    assert "['ash', 'birch', 'cedar', 'elm', 'fir']" in other
