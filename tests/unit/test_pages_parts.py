"""The parts of the pages that can be judged without a browser."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from analyzers.explain.pattern import patterns
from app.pages.diffs import hunks
from app.pages.listing import Gap, ListingLine, fits, listings
from app.present.highlight import LARGEST, highlight_lines, lines_of
from app.present.markdown import to_html
from app.present.story import family_of, notes, steps
from app.schemas import (
    Boundary,
    Carrier,
    Cause,
    Event,
    Location,
)

TAG = re.compile(r"<[^>]*>")
BEFORE = "a = 1\nb = 2\nc = '''x\ny'''\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\ni = 9\n"
AFTER = BEFORE.replace("b = 2", "b = 3").replace("h = 8\n", "h = 8\nh += 1\n")


def text_of(html: Markup) -> str:
    return Markup(TAG.sub("", html)).unescape()


def diff_of(before: str, after: str) -> str:
    names = ("a/train.py", "b/train.py")
    pair = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*pair, *names, n=2))


def cause(**changes: object) -> Cause:
    values: dict[str, object] = {
        "pattern": "recurrent-state",
        "title": "A state",
        "confidence": 0.9,
        "source": "both",
        "location": Location(file="train.py", line=40),
        "carrier": Carrier(name="self.h", file="train.py", line=40),
        "created": Event(file="train.py", line=10, iteration=1, code="h = cell(h)"),
        "freed_by": Event(file="train.py", line=50, iteration=1, code="loss.backward()"),
        "reached_again_by": Event(file="train.py", line=50, iteration=2, code="loss.backward()"),
        "boundary": Boundary(kind="loop", file="train.py", line=38),
        "explanation": "`self.h` holds it.",
        "learn_more": "",
    }
    return Cause.model_validate({**values, **changes})


REPORTED = steps(cause(), "graph-reuse")


@given(st.text(alphabet="ab'\"#\\<&\n\r\t\f\x0b\x85\u2028 ", max_size=60))
def test_every_line_keeps_its_text(text: str) -> None:
    assert [text_of(line) for line in highlight_lines(text)] == lines_of(text)


def test_colours_are_given_up_where_they_would_take_long() -> None:
    assert "<span" in highlight_lines("import torch")[0]
    assert "<span" not in highlight_lines("import torch\n" * (LARGEST // 10))[0]


def test_an_endless_line_is_cut() -> None:
    (shown,) = listings(cause(), REPORTED, {"train.py": "\n" * 9 + "x" * 10_000 + "\n"})
    assert max(len(text_of(row.html)) for row in shown.rows if isinstance(row, ListingLine)) < 1000


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "[a](javascript:alert(1))",
        "![a](http://tracker.example/x.png)",
        "`<img src=x onerror=alert(1)>`",
        "<http://example.com/\"onmouseover='alert(1)>",
    ],
)
def test_markdown_yields_no_markup_of_the_writers_own(hostile: str) -> None:
    html = to_html(hostile)
    assert set(re.findall(r"<(\w+)", html)) <= {"p", "code", "a", "em", "strong"}
    assert not re.search(r'href="(?!https?:)', html)


def test_a_diff_keeps_both_sides_and_their_numbers() -> None:
    found = hunks(diff_of(BEFORE, AFTER))
    old, new = BEFORE.splitlines(), AFTER.splitlines()
    rows = [row for hunk in found for row in hunk.rows]
    assert {hunk.file for hunk in found} == {"train.py"}
    assert [(r.old, r.new) for r in rows if r.kind != "same"] == [(2, None), (None, 2), (None, 10)]
    for row in rows:
        if row.old:
            assert text_of(row.html) == old[row.old - 1]
        if row.new:
            assert text_of(row.html) == new[row.new - 1]


def test_a_changed_line_faces_what_it_became() -> None:
    pairs = [pair for hunk in hunks(diff_of(BEFORE, AFTER)) for pair in hunk.pairs]
    changed = [p for p in pairs if not (p.left and p.left.kind == "same")]
    assert [(p.left and p.left.old, p.right and p.right.new) for p in changed] == [
        (2, 2),
        (None, 10),
    ]


def test_a_long_source_shows_the_marked_lines_and_counts_the_rest() -> None:
    text = "\n".join(f"line_{n} = {n}" for n in range(1, 101)) + "\n"
    (shown,) = listings(cause(), REPORTED, {"train.py": text})
    lines = [row for row in shown.rows if isinstance(row, ListingLine)]
    gaps = sum(row.count for row in shown.rows if isinstance(row, Gap))
    marked = {line.number: [step.number for step in line.steps] for line in lines if line.steps}
    assert marked == {10: ["①"], 40: ["③"], 50: ["②", "④"]}
    assert len(lines) + gaps == 100
    assert shown.cut


def test_the_fix_stands_in_the_source_where_it_goes() -> None:
    sources = {"train.py": BEFORE}
    fix = hunks(diff_of(BEFORE, AFTER))
    assert fits(fix, sources)
    (shown,) = listings(cause(), REPORTED, sources, fix)
    rows = [row for row in shown.rows if isinstance(row, ListingLine)]
    reported = [(row.kind, row.number, text_of(row.html)) for row in rows if row.kind != "same"]
    assert reported == [
        ("removed", 2, "b = 2"),
        ("added", None, "b = 3"),
        ("added", None, "h += 1"),
    ]
    kept = [text_of(row.html) for row in rows if row.kind != "removed"]
    assert "\n".join(kept) == AFTER.rstrip("\n")


def test_a_fix_of_other_lines_is_not_laid_over_the_source() -> None:
    fix = hunks(diff_of(BEFORE, AFTER))
    assert not fits(fix, {"train.py": BEFORE.replace("b = 2", "b = 22")})
    assert not fits(fix, {"train.py": "a = 1\n"})
    assert not fits(fix, {})


def test_a_story_counts_from_one_in_the_order_of_events() -> None:
    assert [(s.n, s.kind, s.line) for s in REPORTED] == [
        (1, "made", 10),
        (2, "freed", 50),
        (3, "carried", 40),
        (4, "reached", 50),
    ]
    bare = cause(created=None, freed_by=None, reached_again_by=None, carrier=None)
    assert [(s.n, s.kind, s.line) for s in steps(bare, "silent")] == [(1, "look", 40)]


def test_a_cause_known_by_its_message_is_not_described_as_a_graph_that_was_freed() -> None:
    failing = Event(file="train.py", line=50, code="loss.backward()")
    returned = Location(file="train.py", line=40, code="return gw, gx, None")
    known = {"created": None, "freed_by": None, "reached_again_by": failing}
    for name, pattern in patterns().items():
        found = cause(pattern=name, by_message=True, location=returned, **known)
        assert [s.text for s in steps(found, family_of(found))] == [
            "Line 40, `return gw, gx, None`, is where to start.",
            "Line 50, `loss.backward()`, raises the error.",
        ], pattern.ID
        assert [note for _, note in notes(found)] == ["raises the error"]


def test_without_the_source_the_quoted_lines_are_shown() -> None:
    (shown,) = listings(cause(), REPORTED, {})
    lines = [row for row in shown.rows if isinstance(row, ListingLine)]
    assert [text_of(line.html) for line in lines] == ["h = cell(h)", "loss.backward()"]
