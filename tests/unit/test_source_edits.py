"""What a fix does to the source, as a headline says it."""

from __future__ import annotations

import pytest

from app.present.fix_wording import fix_line
from app.present.source_edits import edit_of
from app.schema_types import TARGETS_HELD, Gradients, Level, Verified
from app.schemas import Effect, Patch, Verification
from tests.patches import patch_of

BEFORE = """\
state = None
for x in data:
    out, state = rnn(x, state)
    loss = criterion(out)
    loss.backward()

print(loss)
"""


def edit(after: str, before: str = BEFORE) -> str:
    return edit_of({"train.py": before}, {"train.py": after}, "train.py", lambda *place: None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    out,", "    state = state.detach()\n    out,", "add one line before line 3"),
        (
            "ward()\n",
            "ward()\n    state = state.detach()\n    i += 1\n",
            "add 2 lines after line 5",
        ),
        ("print(loss)\n", "print(loss)\nprint(state)\n", "add one line after line 7"),
        ("state = None", "import torch\nstate = None", "add one line before line 1"),
        ("criterion(out)", "criterion(out.detach())", "replace line 4"),
        (" rnn(x, state)\n    loss =", " rnn(x)\n    loss +=", "replace lines 3-4"),
        (
            "loss = criterion(out)",
            "loss = 0\n    loss += criterion(out)",
            "replace line 4 with 2 lines",
        ),
        ("    loss.backward()\n", "", "delete line 5"),
        (
            "rnn(x, state)\n    loss = criterion(out)\n    loss.",
            "rnn(x)\n    loss = criterion(out)\n    loss.item().",
            "change 2 lines (line 3 and line 5)",
        ),
        ("", "", ""),
    ],
)
def test_an_edit_is_said_by_its_lines(old: str, new: str, said: str) -> None:
    assert edit(BEFORE.replace(old, new, 1)) == said


def test_of_many_places_the_first_and_the_last_are_said() -> None:
    before = "".join(f"a{n} = {n}\n" for n in range(20))
    after = "".join(f"a{n} = {n + (n % 4 == 1)}\n" for n in range(20))
    assert edit(after, before) == "change 5 lines (lines 2-18)"


def test_files_and_cells_are_named() -> None:
    before = {"train.py": "a\n", "model.py": "b\n"}
    one = edit_of(before, {"model.py": "c\n"}, "train.py", lambda *place: None)
    both = edit_of(before, {"train.py": "", "model.py": "c\nd\n"}, "train.py", lambda *place: None)
    cells = {2: "cell 1, line 1", 4: "cell 2, line 1"}
    text = "# 1\na\n# 2\nb\n"
    in_cells = [
        edit_of({"n.py": text}, {"n.py": after}, "n.py", lambda _, line: cells[line])
        for after in ("# 1\na\n# 2\nc\n", "# 1\nx\n# 2\ny\n")
    ]
    assert one == "replace line 1 of `model.py`"
    assert both == "change 3 lines in `model.py`, `train.py`"
    assert in_cells == [
        "replace cell 2, line 1",
        "change 2 lines (cell 1, line 1 and cell 2, line 1)",
    ]


def patch(level: Level, gradients: Gradients, status: Verified, effect: str = "") -> Patch:
    return patch_of(
        edit="replace line 4",
        gradients=gradients,
        level=level,
        effect=Effect(text=effect),
        verification=Verification(status=status),
    )


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (patch("safe", "truncated", "passed"), "Fix: replace line 4."),
        (patch("unsafe", "changed", "passed"), "Fix, which changes the training: replace line 4."),
        (
            patch("unsafe", "truncated", "passed", f"Equal {TARGETS_HELD}."),
            "Fix, which holds a target constant: replace line 4.",
        ),
        (patch("display_only", "unknown", "not_run"), ""),
        (patch("display_only", "unknown", "failed"), ""),
    ],
)
def test_the_headline_has_the_fix_only_where_one_has_passed(best: Patch, said: str) -> None:
    assert fix_line([best]) == said


def test_without_a_fix_nothing_is_said() -> None:
    assert fix_line([]) == ""
