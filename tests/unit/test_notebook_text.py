"""A patch goes back into the notebook, and touches nothing but the cells that it changes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analyzers.notebooks.notebook import as_typed, to_project
from analyzers.notebooks.notebook_text import Notebook, notebook_text
from tests.notebooks import code, notebook, sources


def opened(text: str) -> tuple[str, Notebook]:
    script, lines = to_project(text)
    return script, notebook_text(text, lines)


LAYOUTS: dict[str, dict[str, Any]] = {
    "as Jupyter": {},
    "indented by four": {"indent": 4},
    "by tabs": {"indent": "\t"},
    "in one line": {"indent": None},
    "compact": {"indent": None, "separators": (",", ":")},
    "sorted": {"sort_keys": True},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_only_the_changed_source_changes(layout: dict[str, Any]) -> None:
    text = notebook(
        {"cell_type": "markdown", "metadata": {}, "source": ["# Füße\n", "text"]},
        code("x = 1.0e5\ny = 2", 1, "ValueError: é"),
        code("z = 3", 2),
        **layout,
    )
    script, opened_text = opened(text)
    assert opened_text.patched(script) == text
    changed = opened_text.patched(script.replace("y = 2", "y = 2\nä = 4"))
    assert sources(changed) == ["# Füße\ntext", "x = 1.0e5\ny = 2\nä = 4", "z = 3"]
    same = notebook(
        {"cell_type": "markdown", "metadata": {}, "source": ["# Füße\n", "text"]},
        code("x = 1.0e5\ny = 2\nä = 4", 1, "ValueError: é"),
        code("z = 3", 2),
        **layout,
    )
    assert (
        changed == same if "separators" not in layout else json.loads(changed) == json.loads(same)
    )


@pytest.mark.parametrize("ascii_only", [True, False])
def test_characters_are_written_as_the_notebook_writes_them(ascii_only: bool) -> None:
    text = notebook("x = 'ü'", "y = 1", ensure_ascii=ascii_only)
    script, opened_text = opened(text)
    changed = opened_text.patched(script.replace("y = 1", "y = 'ß'"))
    assert changed == notebook("x = 'ü'", "y = 'ß'", ensure_ascii=ascii_only)


def test_a_source_may_be_one_string() -> None:
    cells = [{"cell_type": "code", "source": "x = 1\ny = 2\n"}, {"cell_type": "raw"}]
    text = json.dumps({"cells": cells})
    script, opened_text = opened(text)
    changed = json.loads(opened_text.patched(script.replace("x = 1", "x = 7")))
    assert changed["cells"] == [{"cell_type": "code", "source": "x = 7\ny = 2\n"}, cells[1]]


def test_a_notebook_of_version_three_keeps_its_shape() -> None:
    cells = [{"cell_type": "code", "input": ["x = 1"], "prompt_number": 4}]
    text = json.dumps({"worksheets": [{"cells": cells, "metadata": {}}], "nbformat": 3}, indent=1)
    script, opened_text = opened(text)
    assert opened_text.patched(script.replace("x = 1", "x = 2")) == text.replace("x = 1", "x = 2")


def test_cells_of_nothing_give_way_to_worksheets() -> None:
    cells = [{"cell_type": "code", "input": ["x = 1"]}]
    text = json.dumps({"cells": None, "worksheets": [{"cells": cells}]})
    script, opened_text = opened(text)
    assert opened_text.patched(script.replace("x = 1", "x = 2")) == text.replace("x = 1", "x = 2")


def test_magics_come_back_in_a_changed_cell() -> None:
    source = "%matplotlib inline\n!pip install torch\nx = 1\nfiles = !ls"
    script, opened_text = opened(notebook(source))
    (changed,) = sources(opened_text.patched(script.replace("x = 1", "y = 0\nx = 1")))
    assert changed == source.replace("x = 1", "y = 0\nx = 1")


def test_odd_entries_among_the_cells_are_left_alone() -> None:
    text = json.dumps({"cells": [1, None, {}, {"cell_type": "code", "source": ["x = 1"]}, "{"]})
    script, opened_text = opened(text)
    assert opened_text.patched(script.replace("x = 1", "x = 2")) == text.replace("x = 1", "x = 2")


def test_spans_follow_the_patched_script() -> None:
    script, opened_text = opened(notebook("x = 1", "y = 2\nz = 3"))
    assert opened_text.spans(script, (1, 2, 2)) == [(2, 2), (4, 5), (4, 5)]
    longer = script.replace("x = 1", "x = 1\nw = 0")
    assert opened_text.spans(longer, (2, 1)) == [(5, 6), (2, 3)]
    with pytest.raises(KeyError):
        opened_text.spans(script.replace("# %% cell 1\n", ""), (1, 2))


def test_a_diff_shows_statements_that_change_cells(tmp_path: Path) -> None:
    script, opened_text = opened(notebook("a = 0", "x = 1\ny = 2", "z = 3", "b = 4"))
    moved = script.replace("x = 1\ny = 2\n", "").replace("z = 3", "x = 1\ny = 2\nz = 3")
    diff = opened_text.diff("train.py", script, moved)
    assert [line for line in diff.splitlines()[2:] if line[0] in "-+"] == [
        "-x = 1",
        "-y = 2",
        "+x = 1",
        "+y = 2",
    ]
    (tmp_path / "train.py").write_text(script)
    subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_text() == moved
    assert opened_text.diff("train.py", script, script) == ""


def test_magics_are_shown_as_they_were_typed() -> None:
    text = notebook("!pip install x\nx = 1", "%%bash\nls", "y = 2")
    script, opened_text = opened(text)
    assert "pass  # !pip" in script
    assert as_typed(text).splitlines() == [
        "# %% cell 1",
        "!pip install x",
        "x = 1",
        "# %% cell 2",
        "%%bash",
        "ls",
        "# %% cell 3",
        "y = 2",
    ]
    diff = opened_text.diff("nb.py", script, script.replace("x = 1", "x = 3"))
    assert " !pip install x\n-x = 1\n+x = 3\n" in diff
    assert "pass" not in diff
