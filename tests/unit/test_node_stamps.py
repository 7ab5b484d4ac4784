"""Stamps of nodes whatever else asks for one at the same time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator

import pytest

from sandbox.inside.core import node_stamps
from sandbox.inside.core.node_stamps import make_stamp


def shown() -> list[str]:
    """What is stored with a node that is made here."""
    return [*make_stamp()]


HERE = f"line {shown.__code__.co_firstlineno + 2}, in shown"


def is_here(stamp: list[str]) -> bool:
    return stamp[0].strip().endswith(HERE)


@pytest.fixture
def events() -> Iterator[list[str]]:
    """Audit events that ask for a frame."""
    asked: list[str] = []
    heard = True
    sys.addaudithook(lambda event, _: asked.append(event) if heard and "frame" in event else None)
    yield asked
    heard = False


def test_a_stamp_raises_no_event(events: list[str]) -> None:
    before = len(events)
    stamp = shown()
    assert len(events) == before
    assert is_here(stamp)


def test_a_stamp_is_right_while_another_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked_meanwhile() -> Generator[list[str]]:
        yield shown()

    asking = asked_meanwhile()
    monkeypatch.setattr(node_stamps, "_caller", asking.send)
    assert is_here(next(asking))


def test_an_interrupt_is_the_end_of_one_stamp_only(
    events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: Callable[[None], object] = node_stamps._begun()
    ended.__self__.close()  # type: ignore[attr-defined]
    monkeypatch.setattr(node_stamps, "_caller", ended)
    before = len(events)
    first, second = shown(), shown()
    assert len(events) == before + 1  # by the way that is left, once
    assert is_here(first)
    assert is_here(second)
