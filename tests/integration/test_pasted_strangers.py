"""What people paste that was missed at first contact and is right now: the cause, its line, and
where it says so a fix that was tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.asking import RUNNING, Service
from benchmarks.pasted import Item, items, score
from tests.recorded.describing import described
from tests.recorded.findings import Recorded

pytestmark = [pytest.mark.asyncio(loop_scope="session")]

SHEET = Path(__file__).parents[1] / "strangers" / "pasted.md"
ITEMS = [
    pytest.param(item, id=item.name, marks=pytest.mark.xdist_group(item.name))
    for item in items(SHEET.read_text("utf-8"))
]


@pytest.mark.findings("strangers/pasted")
@pytest.mark.parametrize("item", ITEMS)
async def test_what_was_missed_is_right_now(
    item: Item, service: Service, on_record: Recorded
) -> None:
    found = await service.ask(item.request, RUNNING)
    judged = score(item, found)
    assert judged.cause, judged.told
    assert judged.line, judged.told
    assert judged.tested or not item.label.tested, judged.told
    on_record.check(described(found))
