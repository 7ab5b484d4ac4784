"""What a page says was checked of a script in which nothing was found."""

from __future__ import annotations

from app.present.healthy import looked_for
from app.repair.own_training import own_checks
from app.schemas import Check, Diagnosis, RunReport
from tests.unit.test_picture import diagnosis


def healthy(*checks: Check) -> Diagnosis:
    run = RunReport(status="ran_clean", backward_calls=2, checks=list(checks))
    return diagnosis(verdict="healthy").model_copy(update={"run": run})


def test_figures_are_said_once_and_what_was_not_tested_is_marked() -> None:
    looked = looked_for(
        healthy(
            Check(name="learns", status="passed", detail="6 parameters get a gradient"),
            Check(name="fresh", status="passed", detail="every backward uses the current weights"),
            Check(name="bounded", status="not_run", detail="only 2 calls from one line"),
        )
    )
    assert [(one.text, one.status) for one in looked if not one.rule] == [
        ("No error in 2 backward calls.", "passed"),
        ("Every parameter learns: 6 parameters get a gradient.", "passed"),
        ("Every backward uses the current weights.", "passed"),
        (
            "Memory does not grow across iterations: not tested, only 2 calls from one line.",
            "not_run",
        ),
    ]
    assert [one.rule for one in looked if one.rule][:1] == ["GM027"]


def test_a_check_that_failed_is_no_tick() -> None:
    texts = [one.text for one in looked_for(healthy(*own_checks(None)))]
    assert not any(text.startswith("Every parameter learns") for text in texts)
