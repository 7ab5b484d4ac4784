"""A case as a folder of files that run: taken out of its sheet, and put back.

`case/` holds the script or scripts, with their marks of places; each repair has a folder of its
own (`fixed/`, `wrong_1/`), which may leave out what it does not change; `expected.toml` says what
is expected.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.case_files import KEYS, PLACE, VARIANT, answers_of, marked_texts, named_case, put_down
from tests.diffs import difference
from tests.sheets import Block, Section, SheetError, language_of

EXPECTED = "expected.toml"


def extract(section: Section, folder: Path) -> None:
    """Write a case and its repairs below a folder, which must not hold anything yet."""
    if folder.exists() and any(folder.iterdir()):
        raise SheetError(f"{folder} holds something already; name an empty folder with --to")
    case = named_case(section.title, section)
    put_down({EXPECTED: _toml(answers_of(section))}, folder)
    put_down(marked_texts(section), folder / "case")
    for variant in (*case.fixed, *case.wrong):
        put_down(variant.texts, folder / variant.name)


def section_of(title: str, folder: Path) -> Section:
    """Return the section that holds the case in a folder; raise `SheetError` for one that cannot
    be a case."""
    marked = _texts(folder / "case")
    if not marked:
        raise SheetError(f"{folder / 'case'} holds no script")
    texts = {name: PLACE.sub("", text) for name, text in marked.items()}
    expected = folder / EXPECTED
    answers = expected.read_text("utf-8") if expected.exists() else ""
    blocks = [Block("toml", "", answers)] if tomllib.loads(answers) else []
    for name, text in marked.items():
        given = len(marked) > 1 or Path(name).stem != title
        blocks.append(Block(language_of(name), name if given else "", text))
    for path in sorted(folder.iterdir(), key=_order):
        if path.is_dir() and VARIANT.fullmatch(path.name):
            blocks.append(Block("diff", path.name, _changed(texts, path)))
    section = Section(title, tuple(blocks))
    named_case(title, section)  # reads as what was given, or says why not
    return section


def _changed(texts: Mapping[str, str], variant: Path) -> str:
    after = {name: PLACE.sub("", text) for name, text in _texts(variant).items()}
    diff = difference(texts, {**texts, **after})
    if not diff:
        raise SheetError(f"{variant} changes nothing")
    return diff


def _texts(folder: Path) -> dict[str, str]:
    """The files of a program, the one that is run first."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".ipynb")]
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    return dict(sorted(texts.items(), key=lambda item: item[0] != "train.py"))


def _order(path: Path) -> tuple[str, int]:
    """`fixed`, `fixed_2`, …, `fixed_10`, `wrong_1`."""
    number = re.search(r"\d+$", path.name)
    return path.name.partition("_")[0], int(number[0]) if number else 0


def _toml(answers: Mapping[str, Any]) -> str:
    """Text and lists of text look the same in TOML and in JSON."""
    return "".join(
        f"{key} = {json.dumps(answers[key], ensure_ascii=False)}\n"
        for key in KEYS
        if key in answers
    )
