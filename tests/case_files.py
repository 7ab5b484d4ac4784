"""The cases under `tests/cases`: whole scripts, what is wrong with each, and its known repairs.

A pattern's cases stand in one sheet (`tests/sheets.py`); `tests/cases/README.md` has the format.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.diffs import patched
from tests.sheets import Block, Section, SheetError, sections

ROOT = Path(__file__).parent / "cases"
PLACE = re.compile(r"[ \t]*# expect: place[ \t]*(?=\\n\"|\"|$)", re.MULTILINE)
VARIANT = re.compile(r"(fixed|wrong)(_\d+)?")
KEYS = ("pattern", "also", "raises", "carrier", "engine")  # what a sheet may say of a case


class Place(NamedTuple):
    """A line that is a right answer to "which line should I look at first"."""

    file: str  # "lstm.py", "train.py", "utils/meters.py"
    line: int  # from 1; in a notebook, within its cell
    cell: int | None = None  # from 1, counting every cell of a notebook


@dataclass(frozen=True)
class Variant:
    """A repair of a case: all its files, patched."""

    name: str  # "fixed", "fixed_2", "wrong_1"
    entry: str
    texts: dict[str, str]

    @property
    def text(self) -> str:
        """The script or notebook itself."""
        return self.texts[self.entry]


@dataclass(frozen=True)
class Case:
    """One script a person could have written, with the answers it expects."""

    name: str  # `recurrent_state/lstm`: short, and the same on every machine
    entry: str  # what to run: "lstm.py", "plot.ipynb", or "train.py" among other files
    texts: dict[str, str]  # every file as the service gets it, the entry among them
    pattern: str  # "none" for a healthy script
    also: tuple[str, ...]  # other patterns that are as right
    raises: str | None  # "RuntimeError: beginning of the message"
    carriers: tuple[str, ...]
    places: tuple[Place, ...]
    engine: str  # "torch" or "custom"
    fixed: tuple[Variant, ...]  # the expert's fix first, then others that are accepted
    wrong: tuple[Variant, ...]  # repairs that must be refused

    @property
    def folder(self) -> str:
        """The sheet that holds it: `recurrent_state`."""
        return self.name.partition("/")[0]

    @property
    def healthy(self) -> bool:
        return self.pattern == "none"

    @property
    def notebook(self) -> bool:
        return self.entry.endswith(".ipynb")

    @property
    def stripped(self) -> str:
        """The script or notebook itself."""
        return self.texts[self.entry]

    @property
    def files(self) -> dict[str, str]:
        """The other modules of a case of several files."""
        return {name: text for name, text in self.texts.items() if name != self.entry}


def load_cases(root: Path = ROOT) -> list[Case]:
    """Return every case of a sheet, or of the sheets of a folder, sorted by name."""
    sheets = [root] if root.is_file() else sorted(root.glob("*.md"))
    cases = [
        case
        for sheet in sheets
        if sheet.name != "README.md"
        for case in cases_of(sheet.stem, sheet.read_text("utf-8"))
    ]
    return sorted(cases, key=lambda case: case.name)


def load_case(name: str, root: Path = ROOT) -> Case:
    """Return the case of this name (`recurrent_state/lstm`); raise `KeyError` if there is none."""
    sheet = root / f"{name.partition('/')[0]}.md"
    found = load_cases(sheet) if sheet.is_file() else []
    for case in found:
        if case.name == name:
            return case
    raise KeyError(f"no case is named {name!r}")


@cache
def cases_of(folder: str, sheet: str) -> tuple[Case, ...]:
    """Return the cases of a sheet's text, in its order; raise `SheetError` with the case's name."""
    return tuple(named_case(f"{folder}/{section.title}", section) for section in sections(sheet))


def put_down(texts: Mapping[str, str], folder: Path) -> None:
    """Write files below a folder, which is made where it is not there."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def named_case(name: str, section: Section) -> Case:
    """Return the case of a section; raise `SheetError` with its name where it cannot be read."""
    try:
        return _case(name, section)
    except ValueError as error:  # of TOML, JSON, diffs and sheets
        raise SheetError(f"{name}: {error}") from error


def _case(name: str, section: Section) -> Case:
    answers, marked = answers_of(section), marked_texts(section)
    if not marked:
        raise SheetError("it holds no script")
    texts = {file: PLACE.sub("", text) for file, text in marked.items()}
    entry = "train.py" if len(texts) > 1 else next(iter(texts))
    variants = [
        Variant(block.name, entry, patched(texts, block.text))
        for block in section.blocks
        if block.language == "diff"
    ]
    if unknown := [one.name for one in variants if not VARIANT.fullmatch(one.name)]:
        raise SheetError(f"a diff is named fixed, fixed_2, wrong_1, …, not {unknown[0]!r}")
    return Case(
        name=name,
        entry=entry,
        texts=texts,
        pattern=answers.get("pattern", "none"),
        also=tuple(answers.get("also", ())),
        raises=answers.get("raises"),
        carriers=tuple(answers.get("carrier", ())),
        places=tuple(place for file, text in marked.items() for place in _places(file, text)),
        engine=answers.get("engine", "torch"),
        fixed=tuple(one for one in variants if one.name.startswith("fixed")),
        wrong=tuple(one for one in variants if one.name.startswith("wrong")),
    )


def answers_of(section: Section) -> dict[str, Any]:
    """Return what a section expects, by `KEYS`: its first block, if that is TOML without a name."""
    head = section.blocks[0] if section.blocks else Block("", "", "")
    answers = tomllib.loads(head.text) if (head.language, head.name) == ("toml", "") else {}
    if unknown := answers.keys() - set(KEYS):
        raise SheetError(f"unknown keys: {', '.join(sorted(unknown))}")
    if single := [key for key in ("also", "carrier") if not isinstance(answers.get(key, []), list)]:
        raise SheetError(f"{single[0]} is a list of names")
    return answers


def marked_texts(section: Section) -> dict[str, str]:
    """Return the files of a section's program by name, with the marks of places in them."""
    return {_file_name(section, block): block.text for block in section.blocks if _is_file(block)}


def _is_file(block: Block) -> bool:
    return block.language != "diff" and (block.language, block.name) != ("toml", "")


def _file_name(section: Section, block: Block) -> str:
    return block.name or f"{section.title}.{'ipynb' if block.language == 'json' else 'py'}"


def _places(file: str, text: str) -> Iterator[Place]:
    sources: dict[int | None, str] = {None: text}
    if file.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        sources = {number: "".join(cell["source"]) for number, cell in enumerate(cells, 1)}
    for number, source in sources.items():
        for line, code in enumerate(source.split("\n"), 1):
            if PLACE.search(code):
                yield Place(file, line, number)
