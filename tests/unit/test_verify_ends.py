"""What differs after the steps that were compared, and at the end of two runs."""

from __future__ import annotations

from math import inf

import pytest

from app.repair.matching import matched
from app.verify.comparing import compare
from app.verify.moments import gaps
from app.verify.wording import counted, describe
from sandbox.records import (
    Final,
    ParameterValue,
    Trace,
    UntrainedTensor,
)
from tests.trainings import Reason, parameter, three, trained
from tests.unit.test_verify_comparing import STEPS


@pytest.mark.parametrize("norm", [inf, float("nan"), 1e300])
def test_numbers_that_are_none_are_compared_without_an_error(norm: float) -> None:
    wild = [{0: norm, 1: 1.0}]
    found = compare(trained(STEPS[:1]), trained(wild))
    assert not found.is_same


def test_a_hostile_number_of_equal_parameters_is_matched_in_bounded_time() -> None:
    many = Trace(parameters=[parameter(n, f"p{n}", 1.0) for n in range(4096)])
    assert len(matched(many, many)) == 4096


def test_a_hostile_number_of_buffers_is_matched_in_bounded_work() -> None:
    def run(sign: float) -> Trace:
        trace = trained([{0: 1.0}] * 300)
        listed = [
            UntrainedTensor(name=f"b{n}", shape=[3], values=three(sign * (n + 1)))
            for n in range(512)
        ]
        steps = [step.model_copy(update={"others": listed}) for step in trace.steps]
        return trace.model_copy(update={"steps": steps})

    found = compare(run(1.0), run(-1.0))
    assert [d.kind for d in found.differences] == ["buffer"]
    assert compare(run(1.0), run(1.0)).is_same


def test_weights_that_are_left_otherwise_at_the_end_differ() -> None:
    one, other = trained(STEPS), trained(STEPS)
    ends = [[ParameterValue(param=0, values=three(value))] for value in (1.0, 2.0)]
    for trace, values in zip((one, other), ends, strict=True):
        trace.final = Final(t="final", optimizer_steps=[3], values=values)
    found = compare(one, other).first
    assert found is not None
    assert (found.kind, found.parameter, found.order) == ("value", "w0", inf)


def test_buffers_that_are_left_otherwise_at_the_end_differ() -> None:
    one, other = trained(STEPS), trained(STEPS)
    for trace, value in ((one, 1.0), (other, 2.0)):
        left = UntrainedTensor(name="net.mean", shape=[3], values=three(value))
        trace.final = Final(t="final", optimizer_steps=[3], others=[left])
    found = compare(one, other).first
    assert found is not None
    assert (found.kind, found.parameter, found.order) == ("buffer", "net.mean", inf)


def sample(trace: Trace, numbers: set[int]) -> Trace:
    """The same run, of which only these steps were recorded."""
    return trace.model_copy(update={"steps": [step for step in trace.steps if step.n in numbers]})


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ({1, 2, 3, 4, 5, 6}, "at step 5"),
        ({1, 2, 4, 6}, "between the compared steps 4 and 6"),
        ({1, 2, 5, 6}, "between the compared steps 2 and 5"),
        ({1, 2, 4, 5}, "at step 5"),
    ],
)
def test_a_difference_after_steps_that_were_not_compared(recorded: set[int], said: str) -> None:
    one, other = trained([{0: 1.0}] * 6), trained([{0: 1.0}] * 4 + [{0: 2.0}] * 2)
    found = compare(sample(one, recorded), sample(other, recorded))
    assert found.first is not None
    assert describe(found.first).startswith(f"{said}, w0")
    assert found.equal == len({n for n in recorded if n < 5})


def test_two_optimizers_in_turn_leave_no_gap() -> None:
    turns = [{"optimizer": n % 2, "count": 1 + n // 2} for n in range(6)]
    one = trained([{0: 1.0}] * 6)
    steps = [step.model_copy(update=turn) for step, turn in zip(one.steps, turns, strict=True)]
    assert gaps(one.model_copy(update={"steps": steps})) == {}
    assert list(gaps(one.model_copy(update={"steps": steps[:2] + steps[4:]})).values()) == [1, 2]


@pytest.mark.parametrize(
    ("recorded", "reason", "said"),
    [
        ({1, 2, 3, 4, 5, 6}, "finished", "6 of 6 steps"),
        ({1, 2, 3, 4, 5, 6}, "stopped", "in the first 6 steps"),
        ({1, 2, 4, 6}, "finished", "4 compared of 6 steps"),
        ({1, 2, 4, 6}, "stopped", "4 compared of 6 steps seen"),
    ],
)
def test_a_summary_counts_the_steps_that_were_compared(
    recorded: set[int], reason: Reason, said: str
) -> None:
    run = sample(trained([{0: 1.0}] * 6, reason=reason), recorded)
    assert counted(compare(run, run)) == said
