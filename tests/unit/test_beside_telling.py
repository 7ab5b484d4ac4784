"""What `gradmend run` says as a diagnosis goes on."""

from __future__ import annotations

import pytest

from app.schemas import Cause, Spot
from gradmend.beside.looking import Telling
from gradmend.beside.saying import RULE, Paint


def cause(pattern: str, line: int, confidence: float = 0.9) -> Cause:
    return Cause(
        pattern=pattern,
        title=f"What is called {pattern}",
        confidence=confidence,
        source="trace",
        location=Spot(file="train.py", line=line),
        explanation="",
        learn_more="",
    )


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines below the rule that sets them apart from the command's own."""
    rule, *lines = capsys.readouterr().err.splitlines()
    assert rule == RULE
    return lines


async def test_a_cause_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    telling = Telling(Paint())
    await telling.cause(cause("recurrent-state", 4))
    await telling.cause(cause("kept-loss", 7))
    telling.after_fixes(cause("recurrent-state", 4, confidence=1.0))
    assert said(capsys) == ["train.py:4  What is called recurrent-state"]


async def test_another_cause_that_fixes_show_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    telling = Telling(Paint())
    await telling.cause(cause("recurrent-state", 4))
    telling.after_fixes(cause("kept-loss", 7))
    first, between, second = said(capsys)
    assert first == "train.py:4  What is called recurrent-state"
    assert "another cause" in between
    assert second == "train.py:7  What is called kept-loss"


def test_a_cause_that_only_fixes_showed_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Telling(Paint()).after_fixes(cause("kept-loss", 7))
    assert said(capsys) == ["train.py:7  What is called kept-loss"]
