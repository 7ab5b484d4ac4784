"""The measured effect of a patch, on traces made here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from app.repair.effects import Measured, ReferenceComparison, compare, renumbered
from sandbox.records import Gradient, Parameter, Step, Trace


def gradient(param: int, value: float) -> Gradient:
    return Gradient(param=param, norm=abs(value), projections=[value, -value, value])


def trace(values: Sequence[float], names: Sequence[str] = ("w",)) -> Trace:
    """Steps of one optimizer; at each, the first parameter has this gradient, the others ones."""
    return Trace(
        parameters=[Parameter(id=i, name=name, optimizer=0) for i, name in enumerate(names)],
        steps=[
            Step(
                t="step",
                n=n,
                optimizer=0,
                gradients=[gradient(i, value if i == 0 else 1.0) for i in range(len(names))],
            )
            for n, value in enumerate(values, 1)
        ],
    )


def measured(candidate: Sequence[float], truncated: Sequence[float] | None = None) -> Measured:
    """Against a kept reference of 1, 2, 3, 4, 5."""
    kept = compare("kept", trace([1, 2, 3, 4, 5]), trace(candidate))
    if truncated is None:
        return Measured(kept)
    return Measured(kept, compare("truncated", trace(truncated), trace(candidate)))


def test_equal_gradients_are_the_same() -> None:
    found = measured([1, 2, 3, 4, 5.0001])
    assert found.gradients == "same"
    effect = found.effect()
    assert (effect.against, effect.steps_equal, effect.steps_compared) == ("kept", 5, 5)
    assert 0 < effect.worst < 1e-4


def test_equal_to_the_truncated_reference_is_truncated() -> None:
    found = measured([1, 1, 1, 1, 1], truncated=[1, 1, 1, 1, 1])
    assert found.gradients == "truncated"
    assert found.effect().against == "truncated"


def test_gradients_that_are_the_fault_are_better_changed() -> None:
    same, changed = (
        replace(measured(v), intended="for this") for v in ([1, 2, 3, 4, 5], [9, 9, 9, 9, 9])
    )
    assert same.gradients == "same"
    assert changed.rank < same.rank


def test_equal_from_the_second_step_on_is_better_than_neither() -> None:
    settled, neither = measured([9, 2, 3, 4, 5]), measured([9, 9, 3, 4, 5])
    assert settled.gradients == neither.gradients == "changed"
    assert settled.rank < neither.rank
    assert settled.effect().text.startswith("From the second step on, ")
    assert measured([9, 2, 3]).rank == neither.rank  # too few to say so


def test_a_gradient_that_is_no_number_equals_only_its_like() -> None:
    both = compare("kept", trace([math.nan, 2]), trace([math.nan, 2]))
    assert both.whole
    assert not compare("kept", trace([1, 2]), trace([math.nan, 2])).whole


def test_nothing_compared_is_unknown() -> None:
    assert Measured().gradients == "unknown"
    assert Measured().effect().against == "none"


def test_steps_before_the_failure_alone_prove_nothing() -> None:
    comparison = compare("kept", trace([1]), trace([1]))
    found = Measured(comparison, whole_story=False)
    assert found.gradients == "unknown"
    assert (
        found.effect().text == "In the 1 step before the original fails, gradients equal its own."
    )
    other = Measured(compare("kept", trace([1]), trace([2])), whole_story=False)
    assert other.gradients == "changed"


def test_parameters_are_matched_by_name() -> None:
    one, other = trace([2.0], ["a", "b"]), trace([1.0], ["b", "a"])
    other.steps[0] = other.steps[0].model_copy(
        update={"gradients": [gradient(0, 1.0), gradient(1, 2.0)]}
    )
    assert compare("kept", one, other).whole


def test_an_empty_comparison_is_not_whole() -> None:
    assert not ReferenceComparison("kept").whole
    assert not ReferenceComparison("kept").settled


def test_inputs_are_numbered_in_the_order_in_which_they_came() -> None:
    """The reference knows no name for what the patch calls `image`, in another shape."""
    weight = Parameter(id=0, name="w", optimizer=0)
    unnamed = Trace(parameters=[weight, Parameter(id=1, shape=[3, 2])])
    image = Parameter(id=0, name="image", shape=[1, 3, 2])
    candidate = Trace(parameters=[image, weight.model_copy(update={"id": 1})])
    assert [p.id for p in renumbered(unnamed, candidate).parameters] == [1, 0]
    other = candidate.model_copy(update={"parameters": [image.model_copy(update={"shape": [4]})]})
    assert [p.id for p in renumbered(unnamed, other).parameters] == [0]
