"""What people paste that was missed at first contact and is right now: the cause, its line, and
where it says so a fix that was tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.asking import RUNNING, ask
from benchmarks.pasted import Item, items, score

SHEET = Path(__file__).parents[1] / "strangers" / "pasted.md"


@pytest.mark.parametrize("item", items(SHEET.read_text("utf-8")), ids=lambda item: item.name)
async def test_what_was_missed_is_right_now(item: Item) -> None:
    found = (await ask([item.request], [RUNNING]))[RUNNING][0]
    judged = score(item, found)
    assert judged.cause, judged.told
    assert judged.line, judged.told
    assert judged.tested or not item.label.tested, judged.told
