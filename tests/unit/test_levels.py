"""Fix levels, and that what was measured is what is said."""

from __future__ import annotations

from typing import get_args

import pytest
from rich.console import Console

from analyzers.explain.listed import counted
from app.command.fixing import caveat, why_none
from app.command.options import Options
from app.command.showing import show
from app.present import fix_wording, wording
from app.present.levels import level_of
from app.present.share import findings_as_markdown
from app.schema_types import CheckStatus, Gradients, Level, Verified
from app.schemas import Check, Effect, Environment, Findings, Patch, RunReport, Verification
from tests.patches import patch_of


@pytest.mark.parametrize(
    ("status", "gradients", "pattern", "level"),
    [
        ("passed", "same", "stored-graph", "safe"),
        ("passed", "truncated", "recurrent-state", "safe"),
        ("passed", "truncated", "manual-tbptt", "safe"),
        ("passed", "truncated", "stored-graph", "unsafe"),
        ("passed", "changed", "recurrent-state", "unsafe"),
        ("passed", "unknown", "recurrent-state", "unsafe"),
        ("not_run", "same", "recurrent-state", "display_only"),
        ("failed", "same", "recurrent-state", "display_only"),
    ],
)
def test_levels(status: Verified, gradients: Gradients, pattern: str, level: Level) -> None:
    assert level_of(status, gradients, pattern) == level


def test_equal_gradients_are_not_safe_where_they_are_the_fault() -> None:
    assert level_of("passed", "same", "missing-zero-grad", faulty_gradients=True) == "unsafe"


def patch(gradients: Gradients, check: Check, effect: Effect) -> Patch:
    return patch_of(
        gradients=gradients,
        level=level_of("passed", gradients, "stored-graph"),
        effect=effect,
        verification=Verification(status="passed", checks=[check]),
    )


def test_a_difference_that_was_measured_is_said_in_badge_chip_and_list() -> None:
    check = Check(name="same_gradient", status="differs", detail="Gradients differ.")
    differing = patch("changed", check, Effect(against="kept", steps_compared=24))
    state = wording.state(Findings(verdict="confirmed", patches=[differing]))
    assert state.words == "Reproduced and fixed; changes the training"
    assert state.tone == "unsure"
    assert fix_wording.chip(check, differing) == "gradients differ (0 of 24 steps equal)"
    assert fix_wording.STATES[check.status] == "differs"
    assert not any(
        "gradients match" in reported for reported in fix_wording.unchecked_fix(differing)
    )


@pytest.mark.parametrize("level", get_args(Level))
def test_every_text_says_the_level_that_the_terminal_says(level: Level) -> None:
    status: Verified = "not_run" if level == "display_only" else "passed"
    shown = patch_of(gradients="same", level=level, verification=Verification(status=status))
    found = Findings(verdict="confirmed", patches=[shown])
    said = {"safe": "safe; tested", "unsafe": "unsafe: read it first; tested"}
    terminal = Console(record=True, width=200)
    show(found, terminal)
    for text in (findings_as_markdown(found), terminal.export_text()):
        assert said.get(level, "not tested") in text


def test_a_change_of_gradients_that_are_the_fault_is_said_to_be_intended() -> None:
    check = Check(name="same_gradient", status="differs", detail="Gradients differ.")
    wanted = Effect(against="kept", steps_compared=71, intended="parameters get one")
    fixing = patch("changed", check, wanted)
    assert fixing.level == "unsafe"
    assert fix_wording.effect(fixing) == "changes the gradients, as intended: parameters get one"
    assert fix_wording.chip(check, fixing) == "gradients differ, as intended"
    assert fix_wording.tab(fixing) == "≠ as intended"
    assert fix_wording.training(fixing) == "changes the gradients, as intended"


def test_a_numerical_derivative_is_said_to_be_what_makes_a_fix_safe() -> None:
    check = Check(name="gradcheck", status="passed")
    level = level_of("passed", "unknown", "function-gradients", derivative=True)
    proven = patch("unknown", check, Effect()).model_copy(update={"level": level})
    assert proven.level == "safe"
    state = wording.state(Findings(verdict="confirmed", patches=[proven]))
    assert (state.words, state.tone) == ("Reproduced and fixed; passes gradcheck", "good")
    assert "numerical derivative" in fix_wording.effect(proven)
    assert fix_wording.tab(proven) == "✓ gradcheck"
    unproven = patch("unknown", check, Effect())
    assert fix_wording.tab(unproven) == "✓ effect unknown"


def test_the_reason_of_a_level_is_said_wherever_the_level_is() -> None:
    check = Check(name="same_gradient", status="passed")
    reason = "tested with a stub for `Net`, which was not sent"
    unsafe = patch("same", check, Effect(against="kept")).model_copy(
        update={"level": "unsafe", "level_reason": reason, "edit": "replace line 3"}
    )
    assert fix_wording.level_and_proof(unsafe) == f"unsafe: {reason}; tested"
    assert fix_wording.fix_line([unsafe]) == f"Fix, which is unsafe ({reason}): replace line 3."
    assert reason in caveat(unsafe)
    assert reason in why_none(Findings(patches=[unsafe]), Options(()))


def test_equal_up_to_a_cut_is_said_so() -> None:
    check = Check(name="same_gradient", status="passed")
    cut = patch("truncated", check, Effect(against="truncated", steps_equal=3, steps_compared=3))
    state = wording.state(Findings(verdict="confirmed", patches=[cut]))
    assert state.words == "Reproduced and fixed; truncates the gradients"
    assert fix_wording.chip(check, cut) == "gradients match (up to the cut)"


@pytest.mark.parametrize(("raised", "chip"), [("passed", "error gone"), ("not_run", "no error")])
def test_an_error_is_gone_only_where_there_was_one(raised: CheckStatus, chip: str) -> None:
    runs = Check(name="runs", status="passed")
    checks = [Check(name="reproduced", status=raised), runs]
    fixed = patch("same", runs, Effect())
    fixed.verification.checks = checks
    assert fix_wording.chip(runs, fixed) == chip


def test_what_changes_nothing_is_fixed_and_no_more() -> None:
    check = Check(name="same_gradient", status="passed")
    same = patch("same", check, Effect(against="kept", steps_equal=3, steps_compared=3))
    state = wording.state(Findings(verdict="confirmed", patches=[same]))
    assert (state.words, state.tone) == ("Reproduced and fixed", "good")


def test_what_ran_is_said_where_it_ran() -> None:
    ran = Environment(torch="2.13.0", python="3.11.7", platform="Linux", packages={"numpy": "2.3"})
    here = Findings(environment=ran, run=RunReport(status="ran_clean"))
    reported = "Ran here, on the CPU, with torch 2.13.0, Python 3.11.7, numpy 2.3, Linux."
    assert wording.versions(here) == reported
    assert wording.versions(Findings(environment=ran)).startswith("Ran on your machine with torch")
    only_read = Findings(environment=Environment(python="3.11.7"))
    assert wording.versions(only_read) == "Read with Python 3.11.7; nothing was run."


def test_a_title_and_a_number_are_said_once() -> None:
    schedule = Check(
        name="schedule",
        status="passed",
        detail="backward calls and steps are those of the original",
    )
    assert fix_wording.figures(schedule) == ""
    assert fix_wording.figures(Check(name="minimal", status="passed", detail="1 line changed"))
    assert [counted(n, "patch", "patches") for n in (0, 1, 2)] == [
        "0 patches",
        "1 patch",
        "2 patches",
    ]
