"""The scripts and pasted texts that Gradmend got wrong at first contact and gets right now.

`strangers.toml` names them by batch in the archive (`benchmarks.archive`), which holds
their text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.archive import PASTED, cases, sheets
from benchmarks.pasted import Item, items
from tests.case_files import Case

FILE = Path(__file__).with_suffix(".toml")
T = TypeVar("T", Case, Item)


def scripts() -> list[Case]:
    """Return the scripts, sorted by name. Raise `KeyError` for a name that its batch does not
    hold."""
    listed = _listed()
    found = [
        replace(case, pattern=listed["pattern"].get(case.name, case.pattern))
        for batch, names in listed["scripts"].items()
        for case in _picked(cases(batch), names)
    ]
    return sorted(found, key=lambda case: case.name)


def pasted() -> list[Item]:
    """Return the pasted texts, named `batch72/frag_01`, in the order of their batches; raise
    `KeyError` for a name that its batch does not hold."""
    listed = _listed()
    found = [
        replace(item, name=f"{batch}/{item.name}")
        for batch, names in listed["pasted"].items()
        for item in _picked(items(sheets(batch)[PASTED]), names)
    ]
    return [
        replace(item, label=item.label.model_copy(update={"tested": False}))
        if item.name in listed["untested"]
        else item
        for item in found
    ]


def _listed() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def _picked(held: Sequence[T], names: Sequence[str]) -> list[T]:
    """Return what a batch holds under these names."""
    by_name = {one.name: one for one in held}
    return [by_name[name] for name in names]
