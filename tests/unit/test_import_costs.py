"""Which parent a run is forked from, and what the benchmark of imports prints."""

from __future__ import annotations

import pytest

from benchmarks.imports import PLAIN, rows
from sandbox.preload import wanted
from sandbox.protocol import Job


@pytest.mark.parametrize(
    ("lines", "group"),
    [
        ("import numpy\nimport torch", None),
        ("import pandas as pd\nfrom sklearn.svm import SVC", "data"),
        ("from transformers import AutoModel\nimport peft", "text"),
        ("import pandas\nimport transformers", "all"),
        ("import lightning", "all"),
    ],
)
def test_a_run_is_forked_from_the_smallest_parent_that_suffices(
    lines: str, group: str | None
) -> None:
    assert wanted(Job(files={"train.py": lines})) == group


@pytest.mark.parametrize(
    ("file", "lines", "group"),
    [
        ("accelerate/__init__.py", "import accelerate", None),
        ("peft.py", "import transformers\nimport peft", None),
        ("tqdm.py", "import pandas", None),
        ("accelerate.py", "import pandas\nimport accelerate", "data"),
        ("pandas_tools.py", "import pandas", "data"),
    ],
)
def test_a_parent_holds_no_package_by_the_name_of_a_file_of_the_job(
    file: str, lines: str, group: str | None
) -> None:
    assert wanted(Job(files={"train.py": lines, file: ""})) == group


def test_ratios_are_to_the_plain_script() -> None:
    table = list(rows({PLAIN: [1.0, 2.0, 3.0], "pandas": [2.0, 3.0, 4.4]}))
    assert table[0].split()[-4:] == ["2.00", "2.80", "1.00", "1.00"]
    assert table[1].split()[-4:] == ["3.00", "4.12", "1.50", "1.47"]
