"""Two schedules compared, on traces made here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.repair import loss_coverage, schedule
from app.repair.effects import compare
from provenance import BackwardCall, CodeLine
from sandbox.records import Backward, Gradient, RunEnd, Step, Trace

Event = tuple[int, float] | str  # a backward from a line with its loss; a step of an optimizer


def trace(*events: Event, cleared: bool = True) -> Trace:
    """Backward calls by loss, and `"step 0"`, in order; a step clears the gradients that it has
    read."""
    found = Trace()
    fed: list[int] = []
    for event in events:
        if isinstance(event, tuple):
            line, loss = event
            n = len(found.backwards) + 1
            visit = BackwardCall(n=n, at=CodeLine(file="train.py", line=line))
            found.backwards.append(Backward(t="backward", call=visit, loss=loss))
            fed.append(n)
            continue
        found.steps.append(
            Step(
                t="step",
                n=len(found.steps) + 1,
                optimizer=int(event.split()[1]),
                at=CodeLine(file="train.py", line=9),
                after=len(found.backwards),
                fed=list(fed),
            )
        )
        if cleared:
            fed = []
    return found


def each(*losses: float) -> list[Event]:
    """Walk and step, loss by loss."""
    return [event for loss in losses for event in ((5, loss), "step 0")]


A, B, C, D = 1.031, 0.572, 1.293, 0.717  # no sum of some is another
TWO: Sequence[Event] = ((5, A), (6, B), "step 0", (5, C), (6, D), "step 0")
ORIGINAL = trace(*TWO)


@pytest.mark.parametrize(
    ("patched", "word"),
    [
        (trace(*TWO), "same"),
        (trace((5, A + B), "step 0", (5, C + D), "step 0"), "moved"),
        (trace((5, A), "step 0", (5, C), "step 0"), "more"),
        (trace((5, A), (6, B), (5, C), (6, D), "step 0"), "fewer"),
        (trace((5, A + B + C + D), "step 0"), "fewer"),
        (trace((5, (A + B + C + D) / 2), "step 0"), "fewer"),  # the mean of two steps' sums
        (trace("step 0", *TWO), "more"),
        (trace(*TWO, cleared=False), "fewer"),
    ],
)
def test_each_step_is_fed_what_feeds_it_in_the_original(patched: Trace, word: str) -> None:
    found = schedule.compare_steps(ORIGINAL, patched, ended=False)
    assert found.word == word
    assert (found.check.status == "passed") == (word in ("same", "moved"))


def test_a_patch_that_steps_on_nothing_has_failed() -> None:
    found = schedule.compare_steps(ORIGINAL, trace("step 0", "step 0"), ended=False)
    assert found.check.status == "failed"


def test_steps_are_counted_where_both_ended() -> None:
    original, patched = trace(*each(1.0, 2.0, 3.0)), trace(*each(1.0, 2.0))
    assert schedule.compare_steps(original, patched, ended=False).word == "same"
    fewer = schedule.compare_steps(original, patched, ended=True)
    assert (fewer.word, fewer.check.status) == ("fewer", "differs")
    more = schedule.compare_steps(patched, original, ended=True)
    assert (more.word, more.check.status) == ("more", "differs")


def test_a_mean_met_by_chance_is_no_step_for_several() -> None:
    """Each step of the patch trains another loss, as many as there were."""
    original, patched = trace(*each(1.0, 2.0, 3.0)), trace(*each((1.0 + 2.0) / 2, 2.2, 2.9))
    assert schedule.compare_steps(original, patched, ended=True).word == "same"
    assert schedule.compare_steps(original, patched, ended=False).word == "fewer"
    shorter = trace(*each((1.0 + 2.0) / 2, 2.9))
    assert schedule.compare_steps(original, shorter, ended=True).word == "fewer"


def test_an_end_at_which_no_gradient_is_left_is_no_step() -> None:
    original, patched = (trace(*each(1.0, 2.0)) for _ in range(2))
    by_hand = [
        found.model_copy(
            update={"steps": [s.model_copy(update={"optimizer": -1}) for s in found.steps]}
        )
        for found in (original, patched)
    ]
    by_hand[1].steps.append(Step(t="step", n=3))
    assert schedule.compare_steps(*by_hand, ended=True).word == "same"


def test_steps_by_hand_are_counted_where_every_call_is_reported() -> None:
    """Late calls are recorded as samples, and steps by hand with them."""

    def by_hand(losses: int, calls: int) -> Trace:
        found = trace(*each(*(1.0 + n for n in range(losses))))
        steps = [s.model_copy(update={"optimizer": -1}) for s in found.steps]
        ended = RunEnd(t="end", reason="finished", backwards=calls)
        return found.model_copy(update={"steps": [*steps, Step(t="step", n=99)], "ended": ended})

    assert schedule.compare_steps(by_hand(3, 3), by_hand(5, 5), ended=True).word == "more"
    assert schedule.compare_steps(by_hand(3, 9), by_hand(5, 5), ended=True).word == "same"


def test_a_training_of_a_single_step_has_failed() -> None:
    original, once = trace(*each(A, B, C)), trace((5, A), (5, B), (5, C), "step 0")
    assert schedule.compare_steps(original, once, ended=False).check.status == "differs"
    found = schedule.compare_steps(original, once, ended=True)
    assert found.check.status == "failed"
    assert found.problem == "1 step in all, where the original takes 3"


def test_a_gradient_that_the_original_never_clears_may_be_cleared() -> None:
    growing = trace(*each(1.0, 2.0, 3.0), cleared=False)
    assert schedule.compare_steps(growing, trace(*each(1.0, 2.0, 3.0)), ended=True).word == "same"
    assert schedule.compare_steps(growing, growing, ended=True).word == "same"


def test_gradients_of_another_optimizer_may_be_cleared_and_not_used_again() -> None:
    """The second optimizer's loss feeds the first's parameters, too."""
    events: Sequence[Event] = ((5, A), "step 0", (6, B), "step 1", (5, C), "step 0")
    original, cleared = trace(*events, cleared=False), trace(*events)
    assert schedule.compare_steps(original, cleared, ended=True).problem == ""
    assert (
        schedule.reused(original)
        == "line 9 steps on gradients that an earlier step has used already"
    )
    assert schedule.reused(cleared) == ""


def test_two_optimizers_may_use_one_gradient() -> None:
    assert schedule.reused(trace((5, A), "step 0", "step 1", cleared=False)) == ""


def test_without_steps_nothing_is_known() -> None:
    assert schedule.compare_steps(trace((5, 1.0)), trace((5, 1.0)), ended=True).word == "unknown"


@pytest.mark.parametrize(
    ("patched", "status"),
    [
        (trace(*TWO), "passed"),
        (trace((5, A + B), "step 0", (5, C + D), "step 0"), "passed"),
        (trace((5, A), "step 0", (5, C), "step 0"), "failed"),
        (trace((5, 1.1), "step 0", (5, 1.4), "step 0"), "not_run"),  # a weighted sum, perhaps
    ],
)
def test_every_loss_is_covered(patched: Trace, status: str) -> None:
    assert loss_coverage.covered(ORIGINAL, patched).status == status


def test_a_total_without_what_it_carried_is_covered() -> None:
    carried = trace((5, A), "step 0", (8, A + C), "step 0")
    begun_again = trace((5, A), "step 0", (8, C), "step 0")
    assert loss_coverage.covered(carried, begun_again).status == "passed"
    assert loss_coverage.covered(carried, trace((5, A), "step 0")).status == "failed"


def test_a_single_loss_is_covered_where_it_was_seen() -> None:
    one = trace((5, A), "step 0", (5, C), "step 0")
    assert loss_coverage.covered(one, one).detail == "1 loss gets a backward"
    other = trace((5, 1.1), "step 0", (5, 1.4), "step 0")
    assert loss_coverage.covered(one, other).status == "not_run"
    assert loss_coverage.covered(one, trace("step 0")).status == "not_run"


def test_values_that_stray_and_second_backward_calls_are_seen() -> None:
    assert not loss_coverage.feeds_others(
        ORIGINAL, trace((5, A + B), "step 0", (5, C + D), "step 0")
    )
    assert loss_coverage.feeds_others(ORIGINAL, trace((5, A), (6, B), (5, 1.3), (6, D)))
    assert schedule.repeated_backward(ORIGINAL) == ""
    twice = ORIGINAL.backwards[0].model_copy(update={"repeated": True})
    assert "line 5" in schedule.repeated_backward(Trace(backwards=[twice]))


def test_a_loss_whose_gradients_no_step_takes_trains_nothing() -> None:
    original = trace((5, A), (6, B), "step 0", (5, C), (6, D), "step 0")
    steps = [s.model_copy(update={"fed": s.fed[:1]}) for s in original.steps]
    candidate = original.model_copy(update={"steps": steps})
    assert schedule.untrained_loss(original, original) == ""
    assert (
        schedule.untrained_loss(original, candidate)
        == "no step takes the gradients of line 6's loss"
    )


def test_a_loss_behind_the_last_step_is_not_missed() -> None:
    original = trace((5, A), (6, B), "step 0")
    assert schedule.untrained_loss(original, trace((5, A), "step 0", (6, B))) == ""


def with_gradients(found: Trace, *norms: float) -> Trace:
    """The same trace, with one gradient of this norm at each step."""
    steps = [
        step.model_copy(update={"gradients": [Gradient(param=0, norm=norm)]})
        for step, norm in zip(found.steps, norms, strict=True)
    ]
    return found.model_copy(update={"steps": steps})


def test_one_sum_for_the_own_losses_of_several_optimizers_is_reported() -> None:
    apart = with_gradients(trace((5, A), "step 0", (5, B), "step 1"), 1.0, 2.0)
    summed = trace((5, A + B), "step 0", "step 1", cleared=False)
    mixed, equal = with_gradients(summed, 3.0, 2.0), with_gradients(summed, 1.0, 2.0)
    found = schedule.pooled(apart, mixed, compare("kept", apart, mixed))
    assert found is not None
    assert found.check.status == "differs"
    assert "2 optimizers" in found.problem
    rivals = with_gradients(summed, 3.0, 4.0)
    refused = schedule.pooled(apart, rivals, compare("kept", apart, rivals))
    assert refused is not None
    assert refused.check.status == "failed"
    assert schedule.pooled(apart, equal, compare("kept", apart, equal)) is None
    both = with_gradients(trace((5, A + B), "step 0", "step 1", cleared=False), 1.0, 2.0)
    assert schedule.pooled(both, mixed, compare("kept", both, mixed)) is None
