"""Programs given as texts, run in plain Python and recorded by the probe."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.case_files import Case, Variant, put_down
from tests.probe import Record, run


def run_files(files: Mapping[str, str], entry: str = "train.py") -> Record:
    """Return the probe's record of `files[entry]`, run among its files in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        put_down(files, Path(folder))
        return run(Path(folder, entry))


def run_once(program: Case | Variant) -> Record:
    """Return the record of a case or of a variant; each runs once in a process."""
    return _recorded(tuple(program.texts.items()), program.entry)


def accepted(case: Case) -> list[Record]:
    """Return what its right repairs do."""
    return [run_once(variant) for variant in case.fixed]


@cache
def _recorded(texts: tuple[tuple[str, str], ...], entry: str) -> Record:
    return run_files(dict(texts), entry)
