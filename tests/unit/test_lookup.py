"""Patterns and messages by a pasted message, a part of one, or words of something else."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from analyzers import messages
from analyzers.explain.pattern import patterns
from analyzers.messages import catalogue
from app.present.lookup import look_up, patterns_of
from gradmend.run_wrapper.apply import explain
from tests.serving import serving

FREED = "RuntimeError: Trying to backward through the graph a second time (or directly access saved"
CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.FloatTensor [4]] is at version 2; expected version 1 instead."
)

FOLDER = Path(messages.__file__).parent


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (FREED, "freed-graph"),
        ("second time", "freed-graph"),
        ("graph a second time", "freed-graph"),
        (CHANGED, "saved-changed"),
        ("modified by an inplace operation", "saved-changed"),
        ("can't optimize a non-leaf Tensor", "nonleaf-optimized"),
        ("leaf variable", "leaf-written"),
        ("memory leak", "memory-grows"),
        ("CUDA out of memory", "out-of-memory"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "out-of-memory"),
    ],
)
def test_a_message_or_a_part_of_it_finds_its_entry_and_its_usual_causes(
    text: str, entry: str
) -> None:
    found = look_up(text)
    assert [message.id for message in found.messages] == [entry]
    assert tuple(guide.name for guide in found.patterns) == patterns_of(catalogue()[entry])
    assert found.patterns


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("the output is nan", ["nan-gradient"]),
        ("DataLoader worker (pid 7) is killed", ["fork-after-autograd"]),
        ("size mismatch for fc.weight", []),
        ("finance", []),
    ],
)
def test_words_of_another_error_find_no_pattern_but_what_may_help(
    text: str, near: list[str]
) -> None:
    found = look_up(text)
    assert (found.patterns, found.messages) == ((), ())
    assert [entry.id for entry in found.near] == near


def test_every_pattern_that_an_entry_names_exists() -> None:
    named = {name for entry in catalogue().values() for name in entry.patterns}
    assert named
    assert named <= set(patterns())


def test_no_cause_is_written_twice() -> None:
    files = (tomllib.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.toml"))
    causes = [c for f in files for entry in f.get("message", ()) for c in entry.get("cause", ())]
    written = Counter((c["because"], c["do"]) for c in causes if "same" not in c)
    assert [cause for cause, times in written.items() if times > 1] == []


def test_the_remedy_of_a_nonleaf_given_to_an_optimizer_is_the_leaf(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert explain(["can't optimize a non-leaf Tensor"]) == 0
    first_page = capsys.readouterr().out.partition("GM024")[0]
    assert "create the leaf on its device" in first_page
    assert "call `retain_grad()`" not in first_page


def test_explain_says_when_no_pattern_covers_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(["output", "is", "nan"]) != 0
    assert "this is not an autograd error" in capsys.readouterr().err
    assert explain(["recurent-state"]) != 0
    said = capsys.readouterr().err
    assert "there is no pattern recurent-state, did you mean recurrent-state?" in said


@pytest.mark.parametrize("page", ["/patterns", "/messages"])
async def test_both_catalogues_are_searched(page: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        found = (await http.get(page, params={"q": "second time"})).text
        nothing = (await http.get(page, params={"q": "output is nan"})).text
    listed = found.partition('id="found"')[2]
    assert listed.index("/patterns/GM011") < listed.index("/patterns/GM006")
    assert "No pattern: this is not an autograd error" in nothing
    assert 'href="/messages#nan-gradient"' in nothing
