"""What instruments may cost: by a clock of the test's own."""

from __future__ import annotations

import pytest

from sandbox.inside.core import budget
from sandbox.inside.core.budget import ALLOWANCE_S, SHARE, Budget


class Clock:
    """Seconds that pass only when somebody says so."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time

    def pass_by(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(budget, "now", made)
    return made


def test_an_instrument_that_costs_too_much_is_taken_off_and_that_is_noted(clock: Clock) -> None:
    accounts = Budget(limited=True)
    account = accounts.account("graphs")
    account.since = clock.time
    taken_off: list[bool] = []
    account.take_off = lambda: taken_off.append(True)
    account.call(clock.pass_by, ALLOWANCE_S)
    assert not account.closed
    account.call(clock.pass_by, 1.0)
    assert account.closed
    assert taken_off == [True]
    (note,) = accounts.notes
    assert note.startswith("graphs: not looked at beyond")
    account.call(clock.pass_by, 1.0)
    assert clock.time == ALLOWANCE_S + 1.0


def test_one_that_stays_within_its_share_stays(clock: Clock) -> None:
    account = Budget(limited=True).account("graphs")
    account.since = clock.time
    for _ in range(200):
        clock.pass_by(1.0)
        account.call(clock.pass_by, SHARE)
    assert not account.closed


def test_nothing_is_taken_off_where_a_run_is_there_to_be_looked_at(clock: Clock) -> None:
    accounts = Budget()
    account = accounts.account("graphs")
    account.call(clock.pass_by, 100.0)
    assert not account.closed
    assert accounts.notes == []


def test_an_error_of_an_instrument_is_noted_once(clock: Clock) -> None:
    accounts = Budget(limited=True)
    for _ in range(2):
        accounts.account("graphs").call(lambda: [].pop())
    (note,) = accounts.notes
    assert "IndexError" in note
