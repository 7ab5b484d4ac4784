"""Floods and forgeries in what a run says."""

from __future__ import annotations

import pytest

from tests.abuse.attacking import Target

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]

FORGED_END = b'{"t": "end", "reason": "finished", "backwards": 3, "steps": 3}\n'


@pytest.mark.parametrize("handle", [1, 2])
async def test_floods_are_cut_off_rather_than_drained(target: Target, handle: int) -> None:
    result = await target.attack(
        f"""
        import os
        while True:
            os.write({handle}, b"x" * 65536)
        """,
        output_bytes=4096,
    )
    assert (result.status, result.limit) == ("limit_hit", "output")
    assert len(result.stdout_tail + result.stderr_tail) == 4096


async def test_of_long_output_the_end_is_kept(target: Target) -> None:
    result = await target.attack(
        "for number in range(2000): print(number)",
        output_bytes=1024,
    )
    assert result.status == "finished"
    assert result.stdout_tail.endswith("1998\n1999\n")


async def test_output_that_is_not_text(target: Target) -> None:
    result = await target.attack("import os; os.write(1, bytes(range(256)))")
    assert result.status == "finished"
    assert "\N{REPLACEMENT CHARACTER}" in result.stdout_tail


async def test_a_flood_of_records_is_cut_off(target: Target) -> None:
    result = await target.attack(
        """
        import os
        while True:
            os.write(3, b'{"t": "step", "n": 1}\\n' * 1000)
        """,
        mode="trace",
    )
    assert (result.status, result.limit) == ("limit_hit", "records")


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[" * 100_000,
        b'{"t": "start", "v": 1, "torch": "' + b"x" * 600_000 + b'"}',
        b'{"t": "backward", "call": {"n": -1, "at": {"file": "a", "line": 1}}}',
        b'{"t": "step", "n": 1e999}',
        b'{"t": "unheard-of"}',
        b"\xff\xfe\x00",
        b'"\\ud800"',
    ],
    ids=["no json", "deep", "long", "negative", "infinite", "unknown", "bytes", "surrogate"],
)
async def test_absurd_records_are_counted_and_dropped(target: Target, line: bytes) -> None:
    head, filler, rest = line[:50], line[50:51], max(len(line) - 50, 0)
    result = await target.attack(
        f"import os; os.write(3, {head!r} + {filler!r} * {rest} + b'\\n')",
        mode="trace",
    )
    assert result.status == "finished"
    assert result.trace is not None
    assert result.trace.rejected >= 1


async def test_a_forged_end_is_noticed(target: Target) -> None:
    result = await target.attack(
        f"import os; os.write(3, {FORGED_END!r})",
        mode="trace",
    )
    assert any("end" in sign for sign in result.tampered), result.tampered


async def test_a_forged_end_before_a_failure_is_noticed(target: Target) -> None:
    result = await target.attack(
        f"import os; os.write(3, {FORGED_END!r}); os._exit(1)",
        mode="trace",
    )
    assert result.status == "raised"
    assert result.tampered


async def test_leaving_without_the_tracer_is_noticed(target: Target) -> None:
    result = await target.attack("import os; os._exit(0)", mode="trace")
    assert result.tampered


async def test_closing_every_descriptor(target: Target) -> None:
    result = await target.attack("import os; os.closerange(0, 256)", mode="trace")
    assert result.status in ("finished", "raised")
    assert result.tampered
