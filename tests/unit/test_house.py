"""The structure of the source, and its words: what the glossary retires occurs nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.house import (
    class_names,
    long_files,
    long_functions,
    repeated,
    retired_in,
    written,
)
from benchmarks.source_files import Source, in_cycles, sources

VAGUE = """
    Answer Base Block Cell Config Ended Engine Entered Fix Found Frame Here Hop Holder Join Kind
    Line Made Outcome Parameters Part Place Plan Row Sight Spot Started Story Telling Tensor Thing
    Trial Use Value Visit Walk Wanted Word World _Comparing _Held _Leaf _Saved
"""  # names that classes had: metaphors, or words that two things could share
SHARED = {
    "backend.py",  # the launcher's side of a kind of sandbox
    "warm.py",  # what a warm parent forks
    "catalogue.py",  # one subject, as the API gives it and as a page shows it
    "changes.py",
    "complaints.py",
    "diagnoses.py",
    "examples.py",
    "pull_request.py",
    "verdict.py",
    "wording.py",  # the sentences of an answer
}
"""File names that occur more than once below one of the packages, for parts of one role."""

CHECKED = sources()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("app/present.py", '"""It `told`."""\nwalkedAgain = 1  # anew\n', ["walked", "anew"]),
        ("app/present.py", 'say("made\\n up")\nsay("it tells")\nmended = "starved"\n', ["tells"]),
        ("tests/unit/test_told.py", 'script = "told"\n', ["told"]),
        ("docs/guide.md", "Stands\nfor `told` words.", ["Stands\nfor"]),
    ],
)
def test_the_check_sees_what_it_looks_for(name: str, text: str, found: list[str]) -> None:
    assert retired_in(Path(name), text) == found


def test_no_retired_word() -> None:
    found = {str(path): words for path, text in written() if (words := retired_in(path, text))}
    assert found == {}


def test_no_file_and_no_function_is_beyond_its_bound() -> None:
    assert long_files(CHECKED) == []
    assert long_functions(CHECKED) == []


def test_no_file_of_tests_and_benchmarks_is_beyond_the_bound() -> None:
    tests = sources(packages=("tests", "benchmarks"))
    assert [path for path in long_files(tests) if path != "tests/probe.py"] == []  # runs alone


def test_no_modules_import_each_other() -> None:
    assert in_cycles(CHECKED) == []


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("from pack import b", "from .a import x", ["pack.a", "pack.b"]),
        ("from pack import b", "def f():\n    from pack import a", []),
        ("import pack.b", "if TYPE_CHECKING:\n    from . import a", []),
    ],
)
def test_a_cycle_is_found_if_importing_meets_it(first: str, second: str, found: list[str]) -> None:
    files = {"pack.a": first, "pack.b": second}
    known = {n: Source(Path(f"{n.replace('.', '/')}.py"), text) for n, text in files.items()}
    assert in_cycles(known) == found


def test_no_class_name_occurs_twice() -> None:
    assert repeated(class_names(CHECKED)) == {}


def test_modules_of_a_package_share_a_name_only_if_they_share_a_role() -> None:
    modules = [
        (source.path.parts[0], source.path.name)
        for source in CHECKED.values()
        if source.path.name not in ("__init__.py", "__main__.py")
    ]
    assert {name for _, name in repeated(iter(modules))} == SHARED


def test_no_class_is_called_by_a_word_that_could_be_anything() -> None:
    own = {name: source for name, source in CHECKED.items() if not name.startswith("app.examples")}
    assert not {*VAGUE.split()} & {*class_names(own)}
