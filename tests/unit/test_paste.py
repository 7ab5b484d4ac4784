"""Texts as people paste them: what is code is read at its own lines, and the error is found."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.paste import legible
from analyzers.paste.margins import without_numbers, without_quotes
from analyzers.request.causes import RankedCause, classify
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.source.project import Project
from tests.sheets import sections
from tests.unit.test_reading_growth import calls

PASTES = {
    section.title: section.blocks
    for section in sections((Path(__file__).parents[1] / "pastes.md").read_text("utf-8"))
}
EXPECTED: dict[str, dict[str, Any]] = {
    name: tomllib.loads(expected.text) for name, (expected, _) in PASTES.items()
}


def sent(name: str) -> str:
    return PASTES[name][1].text


def causes(examined: Examined) -> list[RankedCause]:
    project = Project(examined.files, examined.entry, recalled=examined.recalled)
    reading = examined.reading
    return classify(project, (*reading.suspected, *reading.evidence))


@pytest.mark.parametrize("box", ["script", "traceback"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_paste_is_read_in_either_box(name: str, box: str) -> None:
    text, expected = sent(name), EXPECTED[name]
    boxes = (text, "") if box == "script" else ("", text)
    examined = examine(boxes[0], "train.py", {}, boxes[1])
    assert examined.problem is None
    family = examined.traceback.family if examined.traceback else "other"
    assert family == (expected["family"] or "other")
    python = examined.files["train.py"].splitlines()
    assert len(python) == len(text.splitlines()) or examined.recalled
    for line, code in expected.get("lines", {}).items():
        assert python[int(line) - 1].strip() == code
    if "pattern" in expected:
        first = causes(examined)[0]
        assert first.pattern == expected["pattern"]
        assert expected.get("line", first.location.line) == first.location.line
    if "told" in expected:
        assert [cause.pattern for cause in examined.from_traceback] == [expected["told"]]
    if "hint" in expected:
        assert any(expected["hint"] in hint.text for hint in examined.hints)
    if "first" in expected:
        assert expected["first"] in examined.hints[0].text
    for part in expected.get("unsaid", ()):
        assert not [h for h in examined.hints if part in h.text]
        assert not [c for c in examined.from_traceback if part in f"{c.explanation} {c.remedy}"]


def test_what_became_a_keyword_of_python_has_the_name_that_torch_gave_it() -> None:
    pasted = legible("y = y.cuda(async=True)\nprint y\n")
    assert pasted is not None
    assert pasted.text == "y = y.cuda(non_blocking=True)\nprint(y)\n"


@pytest.mark.parametrize("name", EXPECTED)
def test_a_patch_is_reported_in_what_was_pasted(name: str) -> None:
    examined = examine(sent(name), "train.py", {}, "")
    if examined.recalled:  # no program: lines that a traceback names
        assert not examined.pasted
        return
    python = examined.files["train.py"]
    pasted = examined.pasted["train.py"]
    assert pasted.back(python) == sent(name)
    lines = python.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.strip())
    from_traceback = pasted.back("".join([*lines[:at], "seed(0)\n", *lines[at:]])).splitlines()
    assert from_traceback[at].endswith("seed(0)")
    assert from_traceback[:at] + from_traceback[at + 1 :] == sent(name).splitlines()


TEXT = st.text(alphabet=st.sampled_from("ab1 \t\n():=.,[]{}\"'#>`-~/\\…“;*@"), max_size=300)
WORDS = st.lists(
    st.sampled_from(
        ["for x in y:", "  a = 1", "\tb = 2", "else:", "```", "```python", ">>> f(", "...", ")",
         "hello there", "", "class A:", "@me", '"""', "Traceback (most recent call last):",
         '  File "a.py", line 1, in f', "RuntimeError: no", "In [3]: x = 1", "Out[3]: 1", "# c",
         "print x", "try:", "except E, e:", "x = (", "return", "if a: \\"]
    ), max_size=40,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXT, WORDS.map("\n".join)))
def test_whatever_is_pasted_becomes_python_of_as_many_lines_or_nothing(text: str) -> None:
    pasted = legible(text)
    if pasted is None:
        return
    ast.parse(pasted.text)
    assert len(pasted.text.splitlines()) == len(text.splitlines())
    back = pasted.back(pasted.text)
    if pasted.restored:
        assert [*map(str.strip, back.splitlines())] == [*map(str.strip, text.splitlines())]
    else:
        assert back == text


def test_python_stays_as_it_is() -> None:
    text = "# RuntimeError: Trying to backward through the graph a second time\nloss.backward()\n"
    examined = examine(text, "train.py", {}, "")
    assert (examined.files["train.py"], examined.pasted) == (text, {})
    assert examined.traceback is None


@pytest.mark.parametrize(
    "text",
    [
        'Hi,\n\nhas anyone seen this?\n\n"RuntimeError: No inf checks were recorded."\n',
        'ValueError("No inf checks were recorded")\n\nSince when?\n'
        "AssertionError: No inf checks were recorded for this optimizer.\n",
        "My settings:\n\n```\n[train]\nlr = 0.1\nresume = true\nnames = ['a']\n```\n"
        "AssertionError: No inf checks were recorded for this optimizer.\n",
    ],
)
def test_quoted_messages_and_settings_are_no_program(text: str) -> None:
    examined = examine(text, "train.py", {}, "")
    assert examined.recalled
    assert examined.traceback is not None
    assert examined.traceback.family == "no-grad"


def test_a_frame_without_its_head_is_no_program() -> None:
    text = (
        'scripts\\venv\\Lib\\site-packages\\torch\\amp\\grad_scaler.py", line 264, in _unscale_\n'
        '    raise ValueError("Attempting to unscale FP16 gradients.")\n'
        "ValueError: Attempting to unscale FP16 gradients.\n"
    )
    assert examine(text, "train.py", {}, "").recalled


def test_a_message_above_its_own_traceback_takes_no_frames_from_it() -> None:
    message = "ValueError: Attempting to unscale FP16 gradients.\n"
    frames = (
        "Traceback (most recent call last):\n"
        '  File "/srv/tune.py", line 90, in <module>\n    main()\n'
        '  File "/srv/tune.py", line 71, in main\n    scaler.unscale_(opt)\n'
    )
    examined = examine(f"{message}{frames}{message}", "train.py", {}, "")
    assert [frame.line for frame in examined.traceback.frames] == [90, 71]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "unit",
    ["x = f(\n", '"""\n', "if a:\n", "hello (world\n", ">>> f(\n", "a = '\\\n", "'\"",
     "print x, (\n", "except E, ", "// ", "In [1]: x\n", "@a\n", "  " * 50 + "x\n"],
)  # fmt: skip
def test_work_grows_in_proportion_to_the_text(unit: str) -> None:
    short, long = (unit * (length // len(unit)) for length in (1_500, 6_000))
    assert calls(lambda: legible(long)) < 6 * calls(lambda: legible(short)) + 5_000


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (["9  for x in xs:", "10      step(x)", "11"], ["for x in xs:", "    step(x)", ""]),
        (["| 1 | a = 2 |", "| 2 | b = 3 |", "| 3 | c = 4 |"], ["a = 2", "b = 3", "c = 4"]),
        (["1: a = 2", "2: b = 3", "3: c = 4"], ["a = 2", "b = 3", "c = 4"]),
        (["--> 7 a = 2", "8 b = 3", "9 c = 4"], ["a = 2", "b = 3", "c = 4"]),
        (["3 apples", "7 pears", "9 plums"], ["3 apples", "7 pears", "9 plums"]),
        (["84    a = f(b)", "", "86    a.x = 1"], ["a = f(b)", "", "a.x = 1"]),
        (["86 a = 2", "84 b = 3"], ["86 a = 2", "84 b = 3"]),
    ],
)
def test_numbers_of_lines_are_no_part_of_them(sent: list[str], read: list[str]) -> None:
    assert without_numbers(sent) == read


def test_a_quoted_quote_is_read_and_a_prompt_is_none() -> None:
    assert without_quotes(["> > a = 2", "> > b = 3", ">>> c"]) == ["a = 2", "b = 3", ">>> c"]
