"""What a script prints is read by the launcher, one process for everybody."""

from __future__ import annotations

import asyncio

import pytest

from tests.abuse.attacking import HONEST, HONEST_OUTPUT, Runs, Target

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRINTED = {
    "slashes": "'/' * 60000 + '\", line 1, in f'",
    "digits": "'a.py\", line ' + '9' * 5000",
}


@pytest.mark.parametrize("name", PRINTED)
async def test_a_printed_traceback_is_read_in_no_time(target: Target, name: str) -> None:
    result = await target.attack(f"""
        import os, sys
        print("Traceback (most recent call last):", file=sys.stderr)
        print('  File "' + {PRINTED[name]}, file=sys.stderr)
        print("Foo: bar", file=sys.stderr, flush=True)
        os._exit(1)
    """)
    assert result.status == "raised"
    assert result.raised is not None
    assert (result.raised.type, result.raised.message) == ("Foo", "bar")


async def test_records_that_are_none_hold_nobody_up(target: Target) -> None:
    flood = "import os\nos.write(3, b'{}\\n' * (2 << 20))\n"
    attack = asyncio.create_task(target.run(flood, mode="trace"))
    honest = await Runs(target.box).run(HONEST)
    assert honest.stdout_tail == HONEST_OUTPUT
    result = await attack
    assert result.tampered
