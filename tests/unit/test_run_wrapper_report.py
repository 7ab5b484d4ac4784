"""What `gradmend run` says as a diagnosis goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.schemas import Cause, Check, Findings, Location, Patch, Verification
from gradmend.run_wrapper import apply, progress
from gradmend.run_wrapper.report import patch_lines, show
from gradmend.run_wrapper.report import tested as how_tested
from gradmend.run_wrapper.stderr import RULE, Paint
from gradmend.run_wrapper.summarize import ProgressPrinter


def cause(pattern: str, line: int, confidence: float = 0.9) -> Cause:
    return Cause(
        pattern=pattern,
        title=f"What is called {pattern}",
        confidence=confidence,
        source="trace",
        location=Location(file="train.py", line=line),
        explanation="",
        learn_more="",
    )


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines below the rule that sets them apart from the command's own."""
    rule, *lines = capsys.readouterr().err.splitlines()
    assert rule == RULE
    return lines


async def test_a_cause_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    reporting = ProgressPrinter(Paint())
    await reporting.cause(cause("recurrent-state", 4))
    await reporting.cause(cause("kept-loss", 7))
    reporting.after_fixes(cause("recurrent-state", 4, confidence=1.0))
    assert said(capsys) == ["train.py:4  What is called recurrent-state"]


async def test_another_cause_that_fixes_show_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporting = ProgressPrinter(Paint())
    await reporting.cause(cause("recurrent-state", 4))
    reporting.after_fixes(cause("kept-loss", 7))
    first, between, second = said(capsys)
    assert first == "train.py:4  What is called recurrent-state"
    assert "another cause" in between
    assert second == "train.py:7  What is called kept-loss"


async def test_an_early_cause_is_reported_again_only_if_a_closer_look_shows_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporting = ProgressPrinter(Paint())
    await reporting.early(cause("recurrent-state", 4, confidence=0.5))
    await reporting.cause(cause("recurrent-state", 4))
    assert said(capsys) == ["train.py:4  What is called recurrent-state"]
    reporting = ProgressPrinter(Paint())
    await reporting.early(cause("recurrent-state", 4))
    await reporting.cause(cause("kept-loss", 7))
    await reporting.cause(cause("recurrent-state", 4))
    first, between, second = said(capsys)
    assert first == "train.py:4  What is called recurrent-state"
    assert "closer look" in between
    assert second == "train.py:7  What is called kept-loss"


def test_a_cause_that_only_fixes_showed_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressPrinter(Paint()).after_fixes(cause("kept-loss", 7))
    assert said(capsys) == ["train.py:7  What is called kept-loss"]


def patch(n: int, title: str, status: str, check: str = "") -> Patch:
    checks = [Check(name="runs", status="failed", detail=check)] if check else []
    verification = Verification.model_validate({"status": status, "checks": checks})
    return Patch(
        n=n,
        strategy="detach",
        title=title,
        diff=f"--- a/train.py\n+++ b/train.py\n@@ -{n} +{n} @@\n-a\n+b\n",
        script="",
        snippet="",
        gradients="unknown",
        verification=verification,
    )


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("ended by itself, 3 backward calls", "no error in 3 backward calls"),
        ("ended by itself, 0 backward calls", "no error"),
    ],
)
def test_a_fix_whose_run_checked_nothing_else_says_only_that(detail: str, said: str) -> None:
    ran = patch(1, "Detach the total", "passed", detail)
    ran.verification.checks[0].status = "passed"
    assert how_tested(ran, Paint()) == f"✓ your command ran again with it: {said}"


def test_a_fix_that_failed_is_not_offered_but_said_to_be_tried(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = Findings(causes=[cause("kept-loss", 7)])
    findings.patches = [
        patch(1, "Detach the total", "failed", "it still raises"),
        patch(2, "Sum numbers", "not_run"),
    ]
    show(findings, Paint())
    reported = capsys.readouterr().err
    shown, tried, typed = reported.partition("tried: ")
    assert "@@ -2" not in shown
    assert "   2 │ b" in shown
    assert "   1 │" not in reported
    assert "fix 1, Detach the total: it still fails: it still raises" in tried + typed
    assert "gradmend apply" not in reported


def test_where_every_fix_failed_none_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    findings = Findings(causes=[cause("kept-loss", 7)])
    findings.patches = [patch(1, "Detach the total", "failed", "it still raises")]
    show(findings, Paint())
    reported = capsys.readouterr().err
    assert reported.startswith("no fix that was tried holds\n")
    assert "│" not in reported
    assert "apply" not in reported


async def test_what_is_being_done_is_said_line_by_line_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporting = ProgressPrinter(Paint())
    await reporting.stage("verifying", 0, 3, "Trying 3 patches")
    reporting.begin()
    await reporting.stage("verifying", 0, 3, "Trying 3 patches")
    await reporting.stage("verifying", 0, 3, "Trying 3 patches")
    await reporting.stage("verifying", 1, 3, "Trying 3 patches")
    await reporting.patch(patch(1, "Detach", "failed", "it still raises"))
    summed = patch(2, "Sum numbers", "passed").model_copy(update={"gradients": "changed"})
    await reporting.patch(summed)
    await reporting.patch(patch(3, "Another", "passed"))
    await reporting.stage("verifying", 3, 3, "Trying 3 patches")
    await reporting.stage("verifying", 3, 3, "Tried 3 patches")
    assert said(capsys) == [
        "Trying 3 patches …",
        "Trying 3 patches (1 of 3 done) …",
        "passes so far: Sum numbers; this fix changes the training",
        "Trying 3 patches (3 of 3 done) …",
        "Tried 3 patches …",
    ]


async def test_on_a_terminal_a_long_step_shows_that_it_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100))
    renewed = asyncio.Event()

    def now() -> int:
        at = next(clock)
        if at > 2:
            renewed.set()
        return at

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "TICK_S", 0)
    monkeypatch.setattr(progress, "monotonic", now)
    line = progress.ProgressLine()
    async with line.ticking():
        line.show("Trying 3 patches", 1, 3)
        await renewed.wait()
    drawn = capsys.readouterr().err.split("\r\x1b[K")
    assert drawn[1:3] == [f"Trying 3 patches (1 of 3 done) … {seconds} s" for seconds in (1, 2)]
    assert drawn[-1] == ""


@pytest.mark.parametrize("word", ["show", "apply"])
def test_without_a_result_it_says_whose_it_would_be(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {"show": apply.show, "apply": apply.apply}[word]([]) == 1
    reported = capsys.readouterr().err
    assert "no result of `gradmend run` is kept for this folder" in reported
    assert "gradmend train.py --diff, or --fix" in reported


TWO_FILES = """\
--- a/net.py
+++ b/net.py
@@ -7,2 +7,2 @@
 x = 1
-y = x
+y = 2
--- a/train.py
+++ b/train.py
@@ -3 +3,2 @@
 loss.backward()
+optimizer.step()
"""


def test_each_file_of_a_change_is_headed_by_its_name() -> None:
    change = patch(1, "", "passed").model_copy(update={"diff": TWO_FILES})
    assert list(patch_lines(change, Paint())) == [
        "net.py",
        "       7 │ x = 1",
        "  -    8 │ y = x",
        "  +    8 │ y = 2",
        "train.py",
        "       3 │ loss.backward()",
        "  +    4 │ optimizer.step()",
    ]
