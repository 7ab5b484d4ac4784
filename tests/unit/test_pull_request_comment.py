"""The comment on a pull request: what scripts say in it is text, never markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.change_schemas import ChangeFindings
from app.command.entries import entries_in
from app.command.options import BadInput
from app.present.pull_request import Reviewed, comment_of
from tests.verified import HEALTHY


def test_hostile_text_stays_within_its_cell() -> None:
    summary = "RuntimeError: | @anna ![x](http://e) <img src=x> `a` [l](u)\nnext\x1b[31m"
    found = ChangeFindings(verdict="breaks", summary=summary, notes=["#1 closes #2"])
    text = comment_of([Reviewed("a|b`c.py", found)], ["x.py"], "abc")
    row = next(line for line in text.splitlines() if line.startswith("| <code>"))
    assert row.count(" | ") == 2
    for mark in ("@", "<img", "](", "`", "#1", "\x1b"):
        assert mark not in row.replace("&#", ""), mark
    assert "Not run: <code>x.py</code>." in text


def test_scripts_that_train_when_they_are_started(tmp_path: Path) -> None:
    main = "from lib import fit\n\nif __name__ == '__main__':\n    fit()\n"
    files = {
        "lib.py": "def fit(loss):\n    loss.backward()\n",
        "start.py": main,
        "alone.py": HEALTHY,
        "tool.py": "if __name__ == '__main__':\n    print(1)\n",
        "words.py": "x = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = [one.path.name for one in entries_in([tmp_path], tmp_path)]
    assert sorted(names) == ["alone.py", "start.py"]
    (named,) = entries_in([tmp_path / "words.py"], tmp_path)
    assert named.path.name == "words.py", "what is named is taken as it is"
    with pytest.raises(BadInput, match="no such file"):
        entries_in([tmp_path / "nowhere"], tmp_path)
