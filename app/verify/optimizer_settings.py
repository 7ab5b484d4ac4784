"""Compare the optimizer settings with which a parameter is stepped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.verify.moments import ParameterStep

Settings = Mapping[str, Sequence[float] | str]
EQUAL = 1e-6  # of a number: schedules compute the same in other ways


def setting_gap(ours: ParameterStep, theirs: ParameterStep) -> str:
    """Describe the settings that both have and that differ; return an empty string if none do."""
    one, other = settings_of(ours), settings_of(theirs)
    said = [
        f"{name} {_shown(one[name])}, now {_shown(other[name])}"
        for name in one
        if name in other and _differ(one[name], other[name])
    ]
    return "; ".join(said[:4])


def settings_of(moment: ParameterStep) -> Settings:
    """Return the settings of the parameter's group."""
    listed, group = moment.step.settings, moment.gradient.group
    return listed[group] if group < len(listed) else {}


def _differ(one: Sequence[float] | str, other: Sequence[float] | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one != other
    return len(one) != len(other) or any(
        abs(a - b) > EQUAL * max(abs(a), abs(b)) for a, b in zip(one, other, strict=True)
    )


def _shown(value: Sequence[float] | str) -> str:
    if isinstance(value, str):
        return value
    numbers = [f"{number:.6g}" for number in value]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"
