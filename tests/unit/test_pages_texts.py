"""The texts of the pages: messages, threads, tabs and summaries."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.messages import catalogue
from app.pages.listing import CellHead, ListingLine, in_cells, whole
from app.pages.result import FixView
from app.present import wording
from app.present.guide import guides
from app.present.share import as_markdown, fenced
from app.present.story import steps
from app.schemas import (
    Diagnosis,
    Findings,
    NextStep,
    Patch,
    Verification,
)
from tests.serving import serving
from tests.unit.test_pages_parts import cause

ROOT = Path(__file__).parents[2]


@given(st.text(alphabet="`a\n", max_size=40))
def test_a_fence_is_longer_than_what_it_holds(text: str) -> None:
    fence = fenced(text, "diff").split("diff")[0]
    assert fence not in text
    assert set(fence) == {"`"}


def test_the_shared_text_names_the_places_and_the_address() -> None:
    now = datetime.now(UTC)
    diagnosis = Diagnosis(
        id="x",
        url="https://example.com/d/x",
        created_at=now,
        expires_at=now,
        status="done",
        verdict="confirmed",
        summary="`self.h` crosses.",
        causes=[cause()],
    )
    shared = as_markdown(diagnosis)
    for piece in (
        "**Seen in your run; fix not tested.**",
        "`self.h` crosses.",
        "line 10",
        diagnosis.url,
    ):
        assert piece in shared


def test_a_summary_is_cut_behind_its_first_sentence() -> None:
    assert wording.sentences("`self.h`: it (line 4). A patch was run.") == (
        "`self.h`: it (line 4).",
        "A patch was run.",
    )
    assert wording.sentences("torch.nn is fine") == ("torch.nn is fine", "")


@pytest.mark.parametrize("name", sorted(guides()))
def test_every_pattern_has_a_lead_and_both_examples(name: str) -> None:
    guide = guides()[name]
    assert guide.lead.endswith(".")
    assert guide.sections
    assert guide.broken != guide.mended
    for code in (guide.broken, guide.mended):
        compile(code, name, "exec")


def test_a_notebooks_listing_is_reported_in_its_cells() -> None:
    script = "# %% cell 2\nimport torch\nh = cell(h)\n# %% cell 4\nloss.backward()\n"
    reported = steps(cause(created=None, freed_by=None, carrier=None), "graph-reuse")
    found = in_cells(whole("nb.py", script, reported), script)
    assert found.title == "nb.ipynb"
    heads = [(at, row.cell) for at, row in enumerate(found.rows) if isinstance(row, CellHead)]
    assert heads == [(0, 2), (3, 4)]
    assert [row.number for row in found.rows if isinstance(row, ListingLine)] == [1, 2, 1]


async def test_every_message_has_its_place_on_the_page_of_messages(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        shown = (await http.get("/messages")).text
    assert {e.id for e in catalogue().values() if f'id="{e.id}"' not in shown} == {"own-engine"}


async def test_pages_link_to_the_threads_of_their_messages(tmp_path: Path) -> None:
    """Only to threads that the measurements name: their text was read."""
    named = (ROOT / "benchmarks" / "first_contact.md").read_text()
    threads = {name for entry in catalogue().values() for name in entry.threads}
    assert threads
    assert {name for name in threads if f"| {name} |" not in named} == set()
    async with serving(tmp_path) as http:
        messages = (await http.get("/messages")).text
        pattern = (await http.get("/patterns/checkpoint-mismatch")).text
        other = (await http.get("/patterns/recurrent-state")).text
    assert {name for name in threads if f">{name}</a>" not in messages} == set()
    link = '<a href="https://github.com/pytorch/torchtitan/issues/1117" rel="noreferrer">'
    assert (link in messages, link in pattern, "Discussed in" in other) == (True, True, False)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Detach `h`", ("Detach h", "")),
        (
            "Give `h` a new tensor instead of writing in place; `r` follows it",
            ("Give h a new tensor instead of writing in ", "place; r follows it"),
        ),
        (
            "Give `h` a new tensor instead of writing in place; `r` keeps the old value",
            ("Give h a new tensor instead of writing in place; ", "r keeps the old value"),
        ),
    ],
)
def test_tabs_of_fixes_that_begin_alike_differ(title: str, name: tuple[str, str]) -> None:
    patch = Patch(
        n=1,
        strategy="s",
        title=title,
        diff="",
        script="",
        snippet="",
        gradients="same",
        verification=Verification(status="passed"),
    )
    assert FixView(patch, [], [], merged=True).name == name


def test_a_step_that_the_summary_names_is_not_named_again() -> None:
    found = Findings(
        summary="The usual cause: a state is kept. The error was raised at line 4.",
        next=[
            NextStep(kind="file", text="Send the script."),
            NextStep(kind="lines", text="A state is kept."),
            NextStep(kind="lines", text="A state is kept.", value="loss.backward()"),
        ],
    )
    assert wording.open_steps(found) == [found.next[0], found.next[2]]
