"""Which parameters a patch trains, on traces made here."""

from __future__ import annotations

from app.repair.effects import compare
from app.repair.late_gradients import loses_gradients_late
from app.repair.learning import feeds_at_fault, learns
from sandbox.records import (
    Missing,
    Parameter,
    Silent,
    Step,
    Trace,
)
from tests.synthesized_traces import gradient, trace


def test_learning_is_judged_in_both_directions() -> None:
    reference = trace([{0: 1.0}, {0: 1.0}])
    assert learns(reference, trace([{0: 2.0}, {0: 2.0}])).status == "passed"
    lost = learns(reference, trace([{1: 1.0}, {1: 1.0}]))
    assert (lost.status, lost.detail) == ("failed", "no gradient any more: `w0`")
    gained = learns(reference, trace([{0: 1.0, 1: 1.0}]))
    assert (gained.status, gained.detail) == ("failed", "a gradient from elsewhere: `w1`")


def test_inputs_without_a_name_need_not_come_as_often() -> None:
    inputs = [Parameter(id=1), Parameter(id=2)]
    reference = trace([{0: 1.0, 1: 1.0, 2: 1.0}])
    reference = reference.model_copy(update={"parameters": [reference.parameters[0], *inputs]})
    assert learns(reference, trace([{0: 1.0, 1: 1.0}])).status == "passed"
    assert learns(reference, trace([{0: 1.0}])).status == "failed"


def test_leaves_whose_gradients_nothing_takes_need_none() -> None:
    both, one = trace([{0: 1.0, 1: 1.0}] * 3), trace([{0: 1.0}] * 3)
    leaves = [Parameter(id=0, name="w", read=True), Parameter(id=1, name="truth")]
    by_hand = both.model_copy(update={"parameters": leaves})
    patched = one.model_copy(update={"parameters": leaves})
    assert learns(by_hand, patched).status == "passed"
    assert compare("kept", by_hand, patched).whole
    unwatched = [p.model_copy(update={"read": False}) for p in leaves]
    by_hand = both.model_copy(update={"parameters": unwatched})
    assert learns(by_hand, patched).status == "failed"
    assert not compare("kept", by_hand, patched).whole


def test_what_numpy_was_given_may_learn_and_must_where_that_was_its_only_way() -> None:
    one, both = trace([{0: 1.0}] * 2), trace([{0: 1.0, 1: 1.0}] * 2)
    held = [*one.parameters, Parameter(id=1, name="w1", optimizer=0, numbers=[0])]
    reference = one.model_copy(update={"parameters": held})
    assert learns(reference, both).status == "passed"
    cut = learns(reference, one.model_copy(update={"parameters": both.parameters}))
    assert (cut.status, cut.detail) == ("failed", "no gradient: `w1`")
    waiting = [p.model_copy(update={"optimizer": p.id}) for p in both.parameters]
    cut = learns(reference, one.model_copy(update={"parameters": waiting}))
    assert cut.status == "passed", "the run was stopped before its optimizer stepped"
    drawn = [p.model_copy(update={"numbers": [0]}) for p in held]  # made of what is fed, too
    reference = one.model_copy(update={"parameters": drawn})
    cut = learns(reference, one.model_copy(update={"parameters": both.parameters}))
    assert cut.status == "passed"


def test_parameters_that_fall_silent_later_are_reported() -> None:
    both, one = {0: 1.0, 1: 1.0}, {0: 1.0}
    assert loses_gradients_late(trace([both] * 2), trace([both, one]))
    reference = trace([both] * 4)
    assert loses_gradients_late(reference, trace([both, both, both, one])) == ""
    assert loses_gradients_late(reference, trace([both, one, both, both])) == ""
    reported = loses_gradients_late(reference, trace([both, both, one, one]))
    assert reported == "no gradient from step 3 on: `w1`"


def test_the_rounding_of_a_gradient_that_is_zero_need_not_come_again() -> None:
    """Scores ahead of a softmax: their bias has none."""
    reference = trace([{0: 1.0, 1: 1e-8}, {0: 2.0, 1: 1e-8}])
    assert learns(reference, trace([{0: 1.0, 1: 1e-8}, {0: 2.0}])).status == "passed"
    assert learns(reference, trace([{0: 1.0}, {0: 2.0}])).status == "passed"
    small = trace([{0: 1.0, 1: 1e-3}, {0: 2.0, 1: 1e-8}])
    assert learns(small, trace([{0: 1.0}, {0: 2.0}])).status == "failed"


def test_a_small_gradient_of_one_direction_is_no_rounding() -> None:
    """One of 0.1 where others are 400,000: the learned prior of a likelihood with little noise."""
    lost = trace([{0: 4e5}] * 4)
    learned = trace([{0: 4e5, 1: 0.1 + 0.01 * n} for n in range(4)])
    for n, step in enumerate(learned.steps):
        step.gradients[1].projections[1] = 1.2e-7 * (n % 2)  # opposite elements cancel
    assert learns(learned, lost).detail == "no gradient any more: `w1`"
    assert learns(trace([{0: 4e5, 1: 0.1}] * 4), lost).status == "passed"
    signs = enumerate((1, -1, -1, 1))
    turning = trace([{0: 4e5, 1: (0.1 + 0.01 * n) * sign} for n, sign in signs])
    assert learns(turning, lost).status == "passed"


def test_who_detaches_a_value_that_is_made_once_gets_no_gradient_what_it_is_made_of() -> None:
    both, one = {0: 1.0, 1: 1.0}, {0: 1.0}
    patched = trace([both, one, one])
    found = learns(trace([both] * 3, nodes=[9, 9, 9]), patched)
    assert (found.status, found.detail) == ("failed", "no gradient from step 2 on: `w1`")
    carried = trace([both] * 3, nodes=[9, 14, 19])  # a state that is learned where it begins
    assert learns(carried, patched).status == "not_run"
    epochs = trace([both, one, one] * 3)
    assert learns(trace([both] * 9, nodes=[9, 14, 19] * 3), epochs).status == "passed"


def test_zeros_do_not_fix_a_parameter_that_got_no_gradient() -> None:
    reported = Trace(silent=[Silent(t="silent", kind="unfed-parameters", params=["w1"])])
    reference, zeros = trace([{0: 1.0}] * 2), trace([{0: 1.0, 1: 0.0}] * 2)
    found = learns(reference, zeros, reported, zeros)
    assert (found.status, found.detail) == ("failed", "no gradient but zeros: `w1`")
    moving = trace([{0: 1.0, 1: 0.0}, {0: 1.0, 1: 2.0}])  # zero at first, as behind zero weights
    assert learns(reference, zeros, reported, moving).status == "passed"
    assert learns(reference, zeros, reported, zeros, spared={"w1"}).status == "passed"
    assert learns(None, zeros).status == "failed"
    assert learns(None, zeros, None, moving).status == "passed"


def test_without_a_reference_every_parameter_of_an_optimizer_must_learn() -> None:
    assert learns(None, trace([{0: 1.0, 1: 1.0}])).status == "passed"
    assert learns(None, trace([{0: 1.0}])).status == "failed"
    assert learns(None, Trace()).status == "not_run"


def test_a_parameter_that_the_run_showed_to_be_at_fault_may_gain_a_gradient() -> None:
    reference, candidate = trace([{0: 1.0}]), trace([{0: 1.0, 1: 1.0}])
    assert learns(reference, candidate).status == "failed"
    for name, status in (("w1", "passed"), ("w0", "failed")):
        original = Trace(silent=[Silent(t="silent", kind="any", params=[name])])
        assert learns(reference, candidate, original).status == status


def test_a_parameter_that_the_run_excuses_need_not_learn() -> None:
    one = trace([{0: 1.0}, {0: 1.0}])
    excused = [p.model_copy(update={"excused": p.id == 1}) for p in one.parameters]
    follows = one.model_copy(update={"parameters": excused})
    assert learns(None, one).status == "failed"
    assert learns(None, follows).status == "passed"
    assert learns(None, one, moving=follows).status == "passed"  # fixed, it does not move


def test_a_parameter_at_fault_may_have_another_root_in_the_patch() -> None:
    reference = trace([{0: 1.0}, {0: 1.0}])
    gained = trace([{0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}])
    for fault, name, status in (
        ("model.body.head.weight", "net.body.head.weight", "passed"),
        ("model.body.head.weight", "body.head.weight", "passed"),
        ("model.body.layers[-1].out.weight", "net.body.layers.0.out.weight", "passed"),
        ("model.body.head.weight", "net.head.weight", "failed"),
        ("model.head.weight", "net.body.head.weight", "failed"),
    ):
        named = [p.model_copy(update={"name": name}) if p.id else p for p in gained.parameters]
        record = Silent(t="silent", kind="unfed-parameters", instead=(fault,))
        original = reference.model_copy(update={"silent": [record]})
        patched = gained.model_copy(update={"parameters": named})
        assert learns(reference, patched, original).status == status, name


def test_a_parameter_that_is_known_to_be_unused_need_not_learn() -> None:
    candidate = trace([{0: 1.0}])
    original = trace(nodes=[3])
    reached = original.backwards[0].model_copy(update={"received": [0]})
    original = original.model_copy(update={"backwards": [reached]})
    unused = original.model_copy(update={"missing": Missing(t="missing", how="unused")})
    assert learns(None, candidate, original).status == "failed"
    assert learns(None, candidate, unused).status == "passed"
    assert learns(None, trace([{1: 1.0}]), unused).status == "failed"


def test_a_leaf_whose_gradient_was_read_before_the_training_has_one() -> None:
    leaf = Parameter(id=2, name="pos")
    asked = trace(nodes=[3]).backwards[0].model_copy(update={"received": [2]})
    original = Trace(backwards=[asked], missing=Missing(t="missing", how="unused"))
    for value, status in ((1.0, "passed"), (0.0, "failed")):
        found = trace([{0: 1.0, 1: 1.0}])
        read = Step(t="step", n=0, optimizer=-1, gradients=[gradient(2, value)])
        update = {"parameters": [*found.parameters, leaf], "steps": [read, *found.steps]}
        candidate = found.model_copy(update={**update, "backwards": [asked]})
        assert learns(None, candidate, original).status == status


def test_a_reference_in_which_all_gradients_cancel_reports_nobody_who_learns() -> None:
    zeros = trace([{0: 0.0, 1: 0.0}] * 2, nodes=[5, 5])
    reached = [r.model_copy(update={"received": [0, 1]}) for r in zeros.backwards]
    reference = zeros.model_copy(update={"backwards": reached})
    assert learns(reference, trace([{0: 1.0, 1: 1.0}] * 2)).status == "passed"
    assert learns(reference, trace([{0: 1.0}] * 2)).status == "failed"
    assert learns(zeros, trace([{0: 1.0, 1: 1.0}] * 2)).status == "failed"  # no walk comes to them


def test_what_the_script_cuts_off_by_itself_is_no_fault_of_the_patch() -> None:
    """Nor is it said that every parameter learns."""
    both = trace([{0: 1.0, 1: 1.0}] * 2)
    names = [p.model_copy(update={"optimizer": 0}) for p in both.parameters]
    patched = trace([{0: 1.0}] * 2).model_copy(update={"parameters": names})
    assert learns(None, patched).status == "failed"
    assert learns(None, patched, cut_off={"w1"}).status == "not_run"
    assert learns(None, patched, cut_off={"w0"}).status == "failed"


def test_a_reference_that_keeps_graphs_may_feed_what_the_original_does_not() -> None:
    fault = Silent(t="silent", kind="unfed-parameters", params=("w1",))
    original = trace([{0: 1.0}]).model_copy(update={"silent": [fault]})
    assert feeds_at_fault(trace([{0: 1.0, 1: 1.0}]), original)
    assert not feeds_at_fault(trace([{0: 1.0}]), original)
    assert not feeds_at_fault(trace([{0: 1.0, 1: 1.0}]), trace([{0: 1.0}]))
