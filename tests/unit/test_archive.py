"""The archive of measured batches: all of them can be read, and nothing that is held out has a
row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import archive
from benchmarks.pasted import items

RECORD = archive.ARCHIVE.with_name("first_contact.md")


def test_every_measured_batch_has_a_row_and_no_other() -> None:
    rows = set(re.findall(r"^\| (batch\d+) \|", RECORD.read_text(), re.MULTILINE))
    kept = [path.split("/") for path in archive.batches()]
    assert {name for below, name in kept if below == archive.MEASURED} == rows
    held_out = {name for below, name in kept if below == archive.HELD_OUT}
    assert held_out
    assert not held_out & rows


def test_every_batch_can_be_read() -> None:
    scripts = pasted = 0
    for path, sheets in archive.batches().items():
        if archive.PASTED in sheets:
            pasted += len(items(sheets[archive.PASTED]))
        else:
            scripts += len(archive.cases(path.rpartition("/")[2]))
    assert (scripts, pasted) == (1376 + 6, 741 + 4)  # as first_contact_batches.md says
    assert archive.ARCHIVE.stat().st_size < 4_000_000


def test_a_batch_is_added_and_a_held_out_one_becomes_a_measured_one(tmp_path: Path) -> None:
    copy = tmp_path / "copy.tar.xz"
    names = ("measured/batch12", "measured/batch145", "held_out/batch148")
    before = {name: archive.batches()[name] for name in names}
    archive.write(before, copy)
    assert archive.batches(copy) == before
    new = tmp_path / "batch148"
    new.mkdir()
    (new / "none.md").write_text("## ok_new\n\n```python\nprint()\n```\n")
    archive.add(new, held_out=False, archive=copy)
    after = archive.batches(copy)
    del before["held_out/batch148"]
    before["measured/batch148"] = {"none.md": (new / "none.md").read_text()}
    assert after == before


def test_a_folder_of_sheets_is_a_batch_too(tmp_path: Path) -> None:
    (tmp_path / "none.md").write_text("## ok_new\n\n```python\nprint()\n```\n")
    assert [case.name for case in archive.cases(str(tmp_path))] == ["none/ok_new"]
    with pytest.raises(SystemExit, match="batch0 is neither a folder of sheets nor a batch"):
        archive.cases("batch0")


def test_scripts_are_drawn_again_in_one_order_from_measured_batches() -> None:
    few = archive.again(3)
    assert [case.name for case in few] == [case.name for case in archive.again(5)][:3]
    unasked = {case.name for case in archive.cases("batch148")}
    assert unasked.isdisjoint(case.name for case in archive.again(10_000))


def test_what_is_added_has_to_be_readable(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no sheet"):
        archive.add(tmp_path, held_out=True, archive=tmp_path / "none.tar.xz")
    (tmp_path / archive.PASTED).write_text("## frag_01\n\n```toml\nhealthy = 3\n```\n")
    with pytest.raises(ValueError, match="frag_01: "):
        archive.add(tmp_path, held_out=True, archive=tmp_path / "none.tar.xz")
