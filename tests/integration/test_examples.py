"""The form's examples are true: each, run by plain Python, ends as the text beside it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.pages.examples import Example, examples

OWN_FRAME = re.compile(r'File "[^"]*train\.py", line (\d+)')


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_example_ends_as_the_form_says(example: Example, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(example.script)
    ended = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode != 0) == bool(example.traceback)
    if example.traceback:
        assert ended.stderr.splitlines()[-1] == example.traceback.splitlines()[-1]
        assert OWN_FRAME.findall(ended.stderr) == OWN_FRAME.findall(example.traceback)


def test_there_are_eight_examples_with_names_of_their_own() -> None:
    assert len({example.name for example in examples()}) == 8
    assert len({example.caption for example in examples()}) == 8
