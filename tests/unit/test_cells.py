"""Cells of a script are set apart by the comments that editors and IPython write."""

from __future__ import annotations

import pytest

from analyzers.source.cells import NotebookCell
from analyzers.source.project import Module


def cells(text: str) -> tuple[NotebookCell, ...]:
    return Module("train.py", text).cells


@pytest.mark.parametrize(
    ("marker", "label", "count"),
    [
        ("# In[7]:", "In[7]", 7),
        ("# In [7]:", "In[7]", 7),
        ("# In[ ]:", "cell 1", None),
        ("# %%", "cell 1", None),
        ("#%%", "cell 1", None),
        ("# %% train the model", "cell 1", None),
        ("# %% [7] train", "In[7]", 7),
        ("# %% [markdown]", "cell 1", None),
        ("# %% cell 12", "cell 12", None),
        ("# <codecell>", "cell 1", None),
        ("# COMMAND ----------", "cell 1", None),
    ],
)
def test_markers_begin_cells(marker: str, label: str, count: int | None) -> None:
    assert cells(f"{marker}\nx = 1\ny = 2\n") == (NotebookCell(label, 2, 3, count),)


def test_a_cell_ends_before_the_next_marker() -> None:
    assert cells("import a\n# %%\nx = 1\n\n# %%\ny = 2\n") == (
        NotebookCell("cell 1", 3, 4),
        NotebookCell("cell 2", 6, 6),
    )
    assert NotebookCell("cell 2", 6, 6).place(6) == "cell 2, line 1"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n# 100 %% of it\n",
        'x = """\n# %%\n"""\n',
        "def f():\n    x = 1\n# %%\n    return x\n",
        "if x:\n    # %%\n    y = 1\n",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert cells(text) == ()


def test_markers_of_the_user_are_comments_in_a_script_of_numbered_cells() -> None:
    assert cells("# %% cell 2\nx = 1\n# %% part\ny = 2\n") == (NotebookCell("cell 2", 2, 4),)
