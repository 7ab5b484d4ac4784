"""What people paste that was missed at first contact and is right now: the cause, its line, and
where it says so a fix that was tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.asking import RUNNING, ask
from benchmarks.pasted import items, score

BATCHES = Path(__file__).parents[1] / "first_contact"
MENDED = [
    ("batch72/frag_01", True),
    ("batch72/frag_02", False),
    ("batch78/frag_03", True),
    ("batch78/proj_01", True),
    ("batch80/frag_01", True),
    ("batch80/frag_02", False),
    ("batch80/frag_03", False),
    ("batch80/frag_05", False),
    ("batch80/frag_06", True),
    ("batch80/proj_01", True),
    ("batch84/frag_01", True),
    ("batch86/frag_03", False),
    ("batch86/frag_04", True),
    ("batch86/frag_05", True),
    ("batch86/frag_06", True),
    ("batch86/frag_08", True),
    ("batch90/frag_01", True),
    ("batch90/frag_03", True),
    ("batch90/frag_04", True),
    ("batch90/frag_06", True),
    ("batch90/frag_07", True),
    ("batch90/frag_08", True),
    ("batch94/frag_02", True),
    ("batch94/frag_03", True),
    ("batch94/frag_04", True),
    ("batch94/proj_01", False),
    ("batch96/frag_01", True),
    ("batch96/frag_03", True),
    ("batch98/frag_02", True),
    ("batch98/frag_04", True),
    ("batch98/frag_05", True),
    ("batch96/frag_02", True),
    ("batch104/frag_02", True),
    ("batch104/proj_02", True),
    ("batch106/frag_01", True),
    ("batch106/frag_02", True),
    ("batch106/frag_05", True),
    ("batch109/frag_05", True),
    ("batch109/frag_06", True),
    ("batch113/frag_01", True),
    ("batch113/frag_02", True),
    ("batch115/frag_03", True),
    ("batch115/frag_06", True),
    ("batch115/proj_02", True),
    ("batch117/frag_04", True),
    ("batch122/frag_05", True),
    ("batch127/frag_01", False),
    ("batch127/frag_02", True),
    ("batch127/frag_03", True),
    ("batch129/frag_03", True),
    ("batch129/frag_04", True),
    ("batch129/frag_05", True),
    ("batch129/frag_06", True),
    ("batch129/proj_02", True),
    ("batch129/proj_03", True),
    ("batch132/frag_02", True),
    ("batch132/frag_03", True),
    ("batch132/proj_01", True),
    ("batch134/frag_05", True),
    ("batch145/frag_05", False),
    ("batch145/frag_06", True),
    ("batch145/proj_02", True),
    ("batch145/proj_03", False),  # a slow trainer: time may be up before a patch has run
]


@pytest.mark.parametrize(("name", "tested"), MENDED)
async def test_what_was_missed_is_right_now(name: str, *, tested: bool) -> None:
    batch, _, wanted = name.partition("/")
    item = next(item for item in items(BATCHES / batch) if item.name == wanted)
    found = (await ask([item.request], [RUNNING]))[RUNNING][0]
    judged = score(item, found)
    assert judged.cause, judged.told
    assert judged.line, judged.told
    assert judged.tested or not tested, judged.told
