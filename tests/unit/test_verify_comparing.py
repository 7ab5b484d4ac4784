"""Two runs compared: what differs, what is rounding, and what cannot matter."""

from __future__ import annotations

import re
from math import inf

import pytest

from app.repair.matching import matched
from app.verify.comparing import DOUBLE, compare
from app.verify.wording import silent_faults
from sandbox.protocol import RunResult
from sandbox.records import (
    Gradient,
    Parameter,
    Silent,
    Step,
    Trace,
    UntrainedTensor,
)
from tests.trainings import three, trained

STEPS = [{0: 1.0, 1: 2.0}, {0: 0.5, 1: 1.5}, {0: 0.25, 1: 1.0}]


def kinds(one: Trace, other: Trace, *, held: bool = False) -> list[str]:
    return list(dict.fromkeys(d.kind for d in compare(one, other, held=held).differences))


def test_a_run_equals_itself_in_every_step() -> None:
    found = compare(trained(STEPS), trained(STEPS))
    assert found.is_same
    assert (found.steps, found.equal, found.parameters) == (3, 3, 2)


def test_silent_faults_have_the_names_of_the_catalogue() -> None:
    documented = (Silent.__doc__ or "").partition("`kind`:")[2].partition(".")[0]
    kinds = [kind.strip() for kind in documented.split(",")]
    assert len(kinds) > 10
    faulty = Trace(silent=[Silent(t="silent", kind=kind) for kind in kinds])
    run, fine = (RunResult(status="finished", trace=trace) for trace in (faulty, Trace()))
    new = silent_faults(fine, run)
    assert all(re.match(r"a new fault: GM\d{3} \w", note) for note in new)
    assert len(new) == len(kinds) - 1  # two kinds of parameters without a gradient
    assert "a fault is gone: GM029 A step also uses gradients of earlier steps" in silent_faults(
        run, fine
    )


def test_nothing_compared_is_not_the_same() -> None:
    assert not compare(Trace(), Trace()).is_same


def test_the_first_difference_is_the_witness() -> None:
    later = [*STEPS[:2], {0: 0.25, 1: 3.0}]
    found = compare(trained(STEPS), trained(later))
    assert found.first is not None
    assert (found.first.kind, found.first.parameter, found.first.order) == ("gradient", "w1", 3)
    assert found.first.gap == pytest.approx(2 / 3)
    assert found.equal == 2


@pytest.mark.parametrize(("off", "same"), [(1 + 1e-6, True), (1 + 1e-3, False)])
def test_rounding_is_no_difference(off: float, same: bool) -> None:
    scaled = [{p: g * off for p, g in step.items()} for step in STEPS]
    assert compare(trained(STEPS), trained(scaled)).is_same is same


def test_in_double_less_is_a_difference() -> None:
    scaled = [{p: g * (1 + 1e-5) for p, g in step.items()} for step in STEPS]
    assert compare(trained(STEPS), trained(scaled)).is_same
    assert not compare(trained(STEPS), trained(scaled), DOUBLE).is_same


def test_a_setting_differs_before_it_shows() -> None:
    found = compare(trained(STEPS), trained(STEPS, settings={"lr": [0.2]}))
    assert found.first is not None
    assert found.first.what == "is stepped with other settings: lr 0.1, now 0.2"


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"lr": [0.1 * (1 + 1e-9)]}, True),  # computed in another way
        ({"lr": [0.1], "note": [1.0]}, True),  # what only one has
        ({"lr": [0.1, 0.1]}, False),
    ],
)
def test_settings_are_compared_as_numbers(settings: dict[str, list[float]], same: bool) -> None:
    assert compare(trained(STEPS), trained(STEPS, settings=settings)).is_same is same


def test_another_optimizer_with_equal_updates_is_the_same_training() -> None:
    found = compare(trained(STEPS), trained(STEPS, kind="OwnSGD", settings={"lr": [9.0]}))
    assert found.is_same
    assert found.kinds == ("SGD", "OwnSGD")


def test_another_optimizer_at_held_parameters_is_a_change() -> None:
    assert kinds(trained(STEPS), trained(STEPS, kind="Adam"), held=True) == ["optimizer"]


def test_the_number_of_steps_is_compared_where_a_run_came_to_its_end() -> None:
    assert kinds(trained(STEPS), trained(STEPS[:2])) == ["steps"]
    assert kinds(trained(STEPS, reason="stopped"), trained(STEPS[:2])) == ["steps"]
    assert compare(trained(STEPS), trained(STEPS[:2], reason="stopped")).is_same
    assert kinds(trained(STEPS[:2]), trained(STEPS, reason="stopped")) == ["steps"]


def test_a_missing_gradient_gets_no_gradient_where_none_is_left() -> None:
    without = [{0: step[0], 1: 0.0} for step in STEPS]
    found = compare(trained(STEPS), trained(without))
    assert found.lost_gradients == ("w1",)
    once = [*STEPS[:2], {0: 0.25, 1: 0.0}]
    assert compare(trained(STEPS), trained(once)).lost_gradients == ()


def test_a_gradient_that_rounds_zero_is_not_missed() -> None:
    tiny = [{0: 1.0, 1: 1e-9}]
    assert compare(trained(tiny), trained([{0: 1.0, 1: 0.0}])).is_same


def test_buffers_are_compared_by_value() -> None:
    one, other = trained(STEPS, buffers=[1, 2, 3]), trained(STEPS, buffers=[1, 2.5, 3])
    found = compare(one, other)
    assert found.first is not None
    assert (found.first.kind, found.first.order) == ("buffer", 2)
    assert compare(one, other, held=True).is_same


def test_a_buffer_that_moves_must_be_kept() -> None:
    moving, still = trained(STEPS, buffers=[1, 2, 3]), trained(STEPS, buffers=[1, 1, 1])
    assert kinds(moving, trained(STEPS)) == ["buffer"]
    assert compare(still, trained(STEPS)).is_same


def test_random_numbers_are_noted() -> None:
    one, other = trained(STEPS, random=["a", "b", "c"]), trained(STEPS, random=["a", "x", "y"])
    assert compare(one, other).random_from == 2
    assert compare(one, one).random_from == inf


def test_the_first_loss_that_differs_is_named() -> None:
    one, other = trained(STEPS, losses=[3, 2, 1]), trained(STEPS, losses=[3, 2.5, 1])
    loss = compare(one, other).loss
    assert loss is not None
    assert (loss.ours.loss, loss.theirs.loss) == (2, 2.5)


def test_a_loss_that_is_no_number_any_more_differs() -> None:
    one, other = trained(STEPS, losses=[3, 2, 1]), trained(STEPS, losses=[3, 2, 1])
    other.backwards[1] = other.backwards[1].model_copy(update={"loss": None})
    loss = compare(one, other).loss
    assert loss is not None
    assert (loss.ours.loss, loss.theirs.loss) == (2, None)


def test_names_and_order_do_not_matter() -> None:
    swapped = [{0: step[1], 1: step[0]} for step in STEPS]
    names, firsts = {0: "w0", 1: "w1"}, {0: 2.0, 1: 1.0}  # each has the other's name
    assert compare(trained(STEPS), trained(swapped, names, firsts)).is_same


def test_what_begins_alike_is_distinguished_by_its_gradients() -> None:
    zeros = {0: 0.0, 1: 0.0}
    swapped = [{0: step[1], 1: step[0]} for step in STEPS]
    one, other = trained(STEPS, firsts=zeros), trained(swapped, firsts=zeros)
    assert matched(one, other) == {0: 1, 1: 0}


def test_other_first_values_are_matched_by_name() -> None:
    one, other = trained(STEPS), trained(STEPS, firsts={0: 5.0, 1: 7.0})
    assert matched(one, other) == {0: 0, 1: 1}
    assert kinds(one, other) == ["value"]


def test_weights_that_were_split_are_compared_as_a_whole() -> None:
    def run(sizes: list[int], norms: list[float]) -> Trace:
        owned = [
            Parameter(id=n, name=f"p{n}", shape=[size], optimizer=0, first=three(n + 1.0))
            for n, size in enumerate(sizes)
        ]
        gradients = [Gradient(param=n, norm=norm) for n, norm in enumerate(norms)]
        step = Step(t="step", n=1, count=1, optimizer=0, gradients=gradients)
        return Trace(parameters=owned, steps=[step])

    whole, split = run([5], [5.0]), run([2, 3], [3.0, 4.0])
    found = compare(whole, split)
    assert found.relaid
    assert found.is_same
    assert kinds(whole, run([2, 3], [3.0, 3.0])) == ["gradient"]
    assert kinds(whole, run([2, 2], [3.0, 4.0])) == ["parameters"]


def test_a_parameter_that_no_optimizer_has_any_more_is_lost() -> None:
    one = trained(STEPS)
    other = trained([{0: step[0]} for step in STEPS], {0: "w0"})
    left = UntrainedTensor(name="Linear.w1", shape=[2], parameter=True, values=three(2.0))
    other.steps[0] = other.steps[0].model_copy(update={"others": [left]})
    found = compare(one, other)
    assert found.first is not None
    assert (found.first.kind, found.first.parameter) == ("lost", "w1")


def test_steps_by_hand_equal_those_of_an_optimizer() -> None:
    by_hand = _by_hand(trained(STEPS))
    assert compare(by_hand, trained(STEPS)).is_same
    assert compare(trained(STEPS), by_hand).is_same


def test_an_update_by_hand_that_is_left_out_is_seen() -> None:
    one, other = _by_hand(trained(STEPS)), _by_hand(trained(STEPS))
    held = other.steps[1].gradients[1].model_copy(update={"values": three(2.0)})
    other.steps[1].gradients[1] = held
    assert set(kinds(one, other)) == {"update", "value"}


def _by_hand(trace: Trace) -> Trace:
    """The same, as it is recorded where a script changes its parameters by itself."""
    steps = [
        step.model_copy(
            update={
                "n": 0,
                "optimizer": -1,
                "kind": "",
                "settings": [],
                "gradients": [g.model_copy(update={"change": []}) for g in step.gradients],
            }
        )
        for step in trace.steps
    ]
    owned = [p.model_copy(update={"optimizer": None}) for p in trace.parameters]
    return trace.model_copy(update={"steps": steps, "parameters": owned, "final": None})
