"""The cases under `tests/cases`: whole scripts, what is wrong with each, and its known repairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent / "cases"
EXPECT = re.compile(r"^\s*# expect: (\w+) = (.+?)\s*$")
PLACE = re.compile(r"\s*# expect: place\s*$")
VARIANT = re.compile(r"\.(fixed|wrong)(_\d+)?$")


class Place(NamedTuple):
    """A line that is a right answer to "which line should I look at first"."""

    file: str  # below the case's directory: "train.py", "utils/meters.py"
    line: int  # from 1; in a notebook, within its cell
    cell: int | None = None  # from 1, counting every cell of a notebook


@dataclass(frozen=True)
class Case:
    """One script a person could have written, with the answers it expects."""

    path: Path  # what to run: a script, a notebook, or the train.py of a directory case
    pattern: str  # "none" for a healthy script
    also: tuple[str, ...]  # other patterns that are as right
    raises: str | None  # "RuntimeError: beginning of the message"
    carriers: tuple[str, ...]
    places: tuple[Place, ...]
    engine: str  # "torch" or "custom"
    fixed: tuple[Path, ...]  # the expert's fix first, then others that are accepted
    wrong: tuple[Path, ...]  # repairs that must be refused
    stripped: str  # the source of `path` as the service gets it
    files: dict[str, str]  # the other modules of a directory case, stripped too

    @property
    def name(self) -> str:
        """`recurrent_state/lstm`: short, and the same on every machine."""
        inside = self.path.parent if self.path.name == "train.py" else self.path.with_suffix("")
        return f"{inside.parent.name}/{inside.name}"

    @property
    def healthy(self) -> bool:
        return self.pattern == "none"


def load_cases(root: Path = ROOT) -> list[Case]:
    """Every case in `root` or in one of its folders, sorted by path; repairs belong to their case
    and are not listed."""
    folders = [root, *(path for path in root.iterdir() if path.is_dir() and not _is_project(path))]
    paths = (path for folder in sorted(folders) for path in sorted(folder.iterdir()))
    return [load_case(path) for path in paths if _is_case(path)]


def load_case(path: Path) -> Case:
    """Read the case at `path`: a `.py`, an `.ipynb`, or a directory holding `train.py`."""
    main = path / "train.py" if path.is_dir() else path
    modules = sorted(path.rglob("*.py")) if path.is_dir() else [main]
    named = {module: module.relative_to(main.parent).as_posix() for module in modules}
    answers: dict[str, str] = {}
    places: list[Place] = []
    for module, name in named.items():
        for cell, source in _sources(module):
            answers |= {match[1]: match[2] for match in _expectations(source)}
            places += _places(name, cell, source)
    return Case(
        path=main,
        pattern=answers.get("pattern", "none"),
        also=_names(answers.get("also", "")),
        raises=answers.get("raises"),
        carriers=_names(answers.get("carrier", "")),
        places=tuple(places),
        engine=answers.get("engine", "torch"),
        fixed=_variants(path, "fixed"),
        wrong=_variants(path, "wrong"),
        stripped=strip(main),
        files={name: strip(module) for module, name in named.items() if module != main},
    )


def strip(path: Path) -> str:
    """The source without its expectations; every line keeps its number."""
    text = path.read_text()
    if path.suffix != ".ipynb":
        return _without_expectations(text)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        source = _without_expectations("".join(cell["source"]))
        cell["source"] = source.splitlines(keepends=True)
    return json.dumps(notebook, indent=1)


def _without_expectations(source: str) -> str:
    bare = (PLACE.sub("", EXPECT.sub("", line)) for line in source.split("\n"))
    return "\n".join(bare)


def _sources(path: Path) -> list[tuple[int | None, str]]:
    if path.suffix != ".ipynb":
        return [(None, path.read_text())]
    cells = json.loads(path.read_text())["cells"]
    return [(number, "".join(cell["source"])) for number, cell in enumerate(cells, 1)]


def _expectations(source: str) -> Iterator[re.Match[str]]:
    return filter(None, map(EXPECT.match, source.split("\n")))


def _places(file: str, cell: int | None, source: str) -> list[Place]:
    lines = enumerate(source.split("\n"), 1)
    return [Place(file, number, cell) for number, line in lines if PLACE.search(line)]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _is_case(path: Path) -> bool:
    bare = path.name if path.is_dir() else path.stem
    if VARIANT.search(bare):
        return False
    return path.suffix in {".py", ".ipynb"} or _is_project(path)


def _is_project(path: Path) -> bool:
    return (path / "train.py").is_file()


def _variants(path: Path, kind: str) -> tuple[Path, ...]:
    suffix = "" if path.is_dir() else path.suffix
    stem = path.name.removesuffix(suffix) if suffix else path.name
    matches = [
        other / "train.py" if other.is_dir() else other
        for other in path.parent.iterdir()
        if re.fullmatch(rf"{re.escape(stem)}\.{kind}(_\d+)?{re.escape(suffix)}", other.name)
    ]
    return tuple(sorted(matches))
