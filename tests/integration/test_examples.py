"""The form's examples are true: each, run by plain Python, ends as the text next to it says."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import create_app
from app.pages import prepared
from app.pages.examples import Example, examples
from app.schemas import DiagnosisRequest
from app.settings import Settings

OWN_FRAME = re.compile(r'File "[^"]*train\.py", line (\d+)')


@pytest.mark.rotating
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


@pytest.mark.rotating
async def test_their_results_are_found_before_anybody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [example for example in examples() if not example.traceback]
    monkeypatch.setattr(prepared, "examples", lambda: some)
    app = create_app(Settings(var_dir=tmp_path, prepare_examples=True))
    asked = DiagnosisRequest(script=some[0].script)
    async with app.router.lifespan_context(app), asyncio.timeout(240):
        while not await app.state.service.runner.knows(asked):
            await asyncio.sleep(0.5)
