"""Each check of a patched run can pass, and can fail."""

from __future__ import annotations

from collections.abc import Sequence

from app import checks
from sandbox.protocol import Raised, RunResult
from sandbox.records import (
    Backward,
    Ended,
    Gradient,
    Parameter,
    Place,
    Silent,
    Stale,
    Step,
    Trace,
    Visit,
)

LINE = Place(file="train.py", line=9)


def gradient(param: int, value: float) -> Gradient:
    return Gradient(param=param, norm=abs(value), projections=[value, -value, value])


def trace(steps: Sequence[dict[int, float]] = (), nodes: Sequence[int] = ()) -> Trace:
    """A trace with the given gradients at each step of one optimizer, and nodes per backward."""
    return Trace(
        parameters=[Parameter(id=i, name=f"w{i}", optimizer=0) for i in range(2)],
        steps=[
            Step(t="step", n=n, optimizer=0, gradients=[gradient(p, v) for p, v in one.items()])
            for n, one in enumerate(steps, 1)
        ],
        backwards=[
            Backward(t="backward", visit=Visit(n=n, at=LINE, iteration=n), nodes=count, reach=reach)
            for n, (count, reach) in enumerate(zip(nodes, range(len(nodes)), strict=True), 1)
        ],
    )


def run(status: str, calls: int, **more: object) -> RunResult:
    ended = Ended(t="end", reason="finished", backwards=calls)
    return RunResult.model_validate({"status": status, "trace": Trace(ended=ended), **more})


def test_a_patched_script_runs_when_it_ends_or_goes_well_past_the_failure() -> None:
    assert checks.runs(run("finished", 1), 1).status == "passed"
    assert checks.runs(run("stopped", 4), 1).status == "passed"
    assert checks.runs(run("stopped", 3), 1).status == "failed"
    raised = run("raised", 9, raised=Raised(type="RuntimeError", message="no\nmore"))
    assert checks.runs(raised, 1).detail == "RuntimeError: no"


def test_a_silent_fault_that_stays_fails_the_run() -> None:
    result = run("finished", 9)
    assert result.trace is not None
    result.trace.silent.append(Silent(t="silent", kind="growing-history"))
    assert checks.runs(result, 9, {"growing-history"}).status == "failed"
    assert checks.runs(result, 9, {"aliased-grad"}).status == "passed"


def test_learning_is_judged_in_both_directions() -> None:
    reference = trace([{0: 1.0}, {0: 1.0}])
    assert checks.learns(reference, trace([{0: 2.0}, {0: 2.0}])).status == "passed"
    lost = checks.learns(reference, trace([{1: 1.0}, {1: 1.0}]))
    assert (lost.status, lost.detail) == ("failed", "no gradient any more: w0")
    gained = checks.learns(reference, trace([{0: 1.0, 1: 1.0}]))
    assert (gained.status, gained.detail) == ("failed", "a gradient from elsewhere: w1")


def test_a_parameter_may_not_fall_silent_in_a_later_step() -> None:
    reference, candidate = trace([{0: 1.0, 1: 1.0}] * 2), trace([{0: 1.0, 1: 1.0}, {0: 1.0}])
    assert checks.learns(reference, candidate).status == "failed"
    assert checks.learns(reference, candidate, at_every_step=False).status == "passed"


def test_one_gradient_of_zero_behind_others_is_no_starving() -> None:
    both, one = {0: 1.0, 1: 1.0}, {0: 1.0}
    reference = trace([both] * 4)
    assert checks.learns(reference, trace([both, both, both, one])).status == "passed"
    assert checks.learns(reference, trace([both, one, both, both])).status == "passed"
    starved = checks.learns(reference, trace([both, both, one, one]))
    assert (starved.status, starved.detail) == ("failed", "no gradient from step 3 on: w1")


def test_without_a_reference_every_parameter_of_an_optimizer_must_learn() -> None:
    assert checks.learns(None, trace([{0: 1.0, 1: 1.0}])).status == "passed"
    assert checks.learns(None, trace([{0: 1.0}])).status == "failed"
    assert checks.learns(None, Trace()).status == "not_run"


def test_a_starved_parameter_is_to_gain_a_gradient() -> None:
    reference, candidate = trace([{0: 1.0}]), trace([{0: 1.0, 1: 1.0}])
    assert checks.learns(reference, candidate).status == "failed"
    assert checks.learns(reference, candidate, starved={"w1"}).status == "passed"
    assert checks.learns(reference, candidate, starved={"w0"}).status == "failed"


def test_a_parameter_that_is_known_to_be_unused_need_not_learn() -> None:
    candidate = trace([{0: 1.0}])
    original = trace(nodes=[3])
    reached = original.backwards[0].model_copy(update={"received": [0]})
    original = original.model_copy(update={"backwards": [reached]})
    assert checks.learns(None, candidate, original).status == "failed"
    assert checks.learns(None, candidate, original, unused=True).status == "passed"
    other = trace([{1: 1.0}])
    assert checks.learns(None, other, original, unused=True).status == "failed"


def test_gradients_may_settle_behind_the_first_step() -> None:
    reference, candidate = trace([{0: 1.0}] * 4), trace([{0: 2.0}] + [{0: 1.0}] * 3)
    assert checks.same_gradient(reference, candidate).status == "failed"
    assert checks.same_gradient(reference, candidate, settling=True).status == "passed"
    assert checks.same_gradient(reference, trace([{0: 2.0}] * 4), settling=True).status == "failed"
    short = [one.model_copy(update={"steps": one.steps[:3]}) for one in (reference, candidate)]
    assert checks.same_gradient(*short, settling=True).status == "failed"


def test_one_walk_a_step_looks_at_the_walks_before_the_first_step() -> None:
    walked_twice = trace([{0: 1.0}], nodes=[3, 3])
    before = [step.model_copy(update={"after": 2}) for step in walked_twice.steps]
    assert not checks.one_walk_a_step(walked_twice.model_copy(update={"steps": before}))
    between = [step.model_copy(update={"after": 1}) for step in walked_twice.steps]
    assert checks.one_walk_a_step(walked_twice.model_copy(update={"steps": between}))
    assert checks.one_walk_a_step(None)


def test_gradients_are_compared_step_by_step() -> None:
    reference = trace([{0: 1.0}, {0: 1.0}])
    assert checks.same_gradient(reference, trace([{0: 1.0}, {0: 1.00001}])).status == "passed"
    later = trace([{0: 1.0}, {0: 1.1}])
    assert checks.same_gradient(reference, later).status == "failed"
    assert checks.same_gradient(reference, later, first_only=True).status == "passed"
    assert checks.same_gradient(None, later).status == "not_run"


def test_a_stale_walk_is_not_fresh() -> None:
    clean = trace(nodes=[3, 3])
    assert checks.fresh(clean).status == "passed"
    stale = clean.backwards[0].model_copy(update={"stale": [Stale(param=0, changed_by=1)]})
    assert checks.fresh(Trace(backwards=[stale])).status == "failed"
    assert checks.fresh(Trace()).status == "not_run"


def test_growth_shows_over_five_calls() -> None:
    assert checks.bounded(trace(nodes=[6, 9, 12, 15, 18, 21])).status == "failed"
    assert checks.bounded(trace(nodes=[6, 6, 6, 6, 6, 6])).status == "passed"
    assert checks.bounded(trace(nodes=[6, 9])).status == "not_run"


def test_changed_lines_are_counted() -> None:
    check, lines = checks.minimal({"a.py": "a\nb\nc\n"}, {"a.py": "a\nB\nx\nc\n"})
    assert (check.status, lines) == ("passed", 2)
    assert checks.minimal({"a.py": "a\n"}, {"a.py": "a\n" * 99})[0].status == "failed"
