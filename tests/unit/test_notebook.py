"""Notebooks become scripts whose lines lead back to their cells."""

from __future__ import annotations

import ast
import json

import pytest

from analyzers.notebooks.notebook import NotANotebookError, is_notebook, stored_errors, to_project


def notebook(*cells: str | tuple[str, int | None]) -> str:
    made = []
    for cell in cells:
        source, count = cell if isinstance(cell, tuple) else (cell, None)
        made.append(
            {
                "cell_type": "code",
                "execution_count": count,
                "source": source.splitlines(keepends=True),
            }
        )
    return json.dumps({"cells": made, "nbformat": 4})


def test_lines_map_back_to_cells() -> None:
    text = json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": "# Title"},
                {"cell_type": "code", "source": "import torch\nx = 1\n", "execution_count": 1},
                {"cell_type": "code", "source": ["y = 2\n", "z = 3"], "execution_count": 4},
            ]
        }
    )
    script, line_map = to_project(text)
    assert script.splitlines() == [
        "# %% cell 2",
        "import torch",
        "x = 1",
        "# %% cell 3",
        "y = 2",
        "z = 3",
    ]
    assert [line_map.cell_line(n) for n in (2, 3, 5, 6)] == [
        "cell 2, line 1",
        "cell 2, line 2",
        "cell 3, line 1",
        "cell 3, line 2",
    ]
    assert line_map.script_line(4, 2) == 6
    assert line_map.script_line(4, 3) is None
    assert line_map.script_line(9, 1) is None
    assert [line_map.span(cell) for cell in (2, 3)] == [(2, 3), (5, 6)]


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch\nx = 1",
        "files = !ls\nx = files",
        "if True:\n    !ls\nx = 1",
        "model?\nx = 1",
        "%%bash\nls -la | grep x\ncd ..",
        "%%time\nfor i in range(3):\n    %time f(i)",
        "%%capture\n!ls\nx = 1",
        "",
        "x = (1 +\n%d 2)",
        "\n\n%cd ..",
    ],
)
def test_what_only_ipython_understands_is_neutralised(source: str) -> None:
    script, _ = to_project(notebook(source))
    assert len(script.splitlines()) == 1 + max(len(source.splitlines()), 1)
    if "%d 2" not in source:
        ast.parse(script)


def test_python_that_looks_like_a_magic_stays() -> None:
    source = "total = 7\nx = (total\n% 3)\n"
    script, _ = to_project(notebook(source))
    assert script == f"# %% cell 1\n{source}"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', "{" * 50_000, '{"cells": {}}'])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(NotANotebookError):
        to_project(text)


def test_odd_cells_do_no_harm() -> None:
    text = json.dumps({"cells": [1, None, {"cell_type": "code", "source": [1, "x = 1"]}, {}]})
    assert to_project(text)[0] == "# %% cell 1\nx = 1\n"


def test_markers_begin_as_no_line_of_the_notebook_does() -> None:
    script, line_map = to_project(notebook("# %% cell 9\nx = 1"))
    assert not line_map.mark.startswith("# %% cell ")
    assert script.splitlines() == [f"{line_map.mark}1", "# %% cell 9", "x = 1"]


def test_notebooks_are_distinguished_from_scripts() -> None:
    assert is_notebook(notebook("x = 1"))
    assert not is_notebook('x = {"cells": 1}')


def test_stored_errors_come_in_the_order_of_the_runs() -> None:
    def failed(count: int, *lines: object, **error: object) -> dict[str, object]:
        output = {"output_type": "error", "ename": "E", "evalue": "", "traceback": lines, **error}
        return {"cell_type": "code", "execution_count": count, "outputs": [output, 3], "source": ""}

    cells = [failed(7, "last", 5), failed(2, evalue="first"), {"cell_type": "code", "outputs": {}}]
    assert stored_errors(json.dumps({"cells": cells})) == "E: first\n\nlast"


def test_what_no_file_can_hold_is_replaced() -> None:
    script, _ = to_project(notebook("x = '\ud800\0'"))
    assert script == "# %% cell 1\nx = '?\ufffd'\n"
