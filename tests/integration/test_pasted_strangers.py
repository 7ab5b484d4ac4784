"""What people paste that was missed at first contact and is right now: the cause, its line, and
where it says so a fix that was tested."""

from __future__ import annotations

import pytest

from benchmarks.asking import RUNNING, Service
from benchmarks.pasted import Item, score
from tests.recorded.describing import described
from tests.recorded.findings import Recorded
from tests.strangers import pasted

pytestmark = [pytest.mark.asyncio(loop_scope="session")]

ITEMS = [
    pytest.param(item, id=item.name, marks=pytest.mark.xdist_group(item.name)) for item in pasted()
]


@pytest.mark.findings("strangers/pasted")
@pytest.mark.parametrize("item", ITEMS)
async def test_what_was_missed_is_right_now(
    item: Item, service: Service, on_record: Recorded
) -> None:
    found = await service.ask(item.request, RUNNING)
    judged = score(item, found)
    assert judged.cause, judged.reported
    assert judged.line, judged.reported
    assert judged.tested or not item.label.tested, judged.reported
    on_record.check(described(found))
