"""How far the service gets with what people paste: parts of scripts, threads, projects.

    python -m benchmarks.pasted BATCH [--no-run]

BATCH is one of the archive (`benchmarks.archive`), or a folder. Its sheet `pasted.md` holds an item
a section: a label that a completed program proved (`Label`, in TOML), the text that is sent under
its file name, further files, and the traceback. An item is right where the first cause has the
pattern and stands on one of the lines, of whichever file; a fix counts as tested where it passed
its checks. `blamed` counts healthy items with a cause. Items go through the service's own entry, in
their order.
"""

from __future__ import annotations

import argparse
import asyncio
import tomllib
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict

from app.schemas import DiagnosisRequest, Findings, SourceFile
from tests.sheets import Section, SheetError, sections


class Label(BaseModel):
    """What is true of an item."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: str | None = None  # none of a healthy one
    also: list[str] = []  # other first causes that are as right
    file: str
    lines: list[int]  # right answers to "which line should I look at first", from 1
    lines_by_file: dict[str, list[int]] = {}  # where they are in several files
    healthy: bool
    tested: bool = True  # whether a fix is to pass, where the item is a regression
    note: str = ""
    style: str = ""


@dataclass(frozen=True)
class Item:
    """A request and what is true of it."""

    name: str
    request: DiagnosisRequest
    label: Label

    @property
    def kind(self) -> str:
        return "healthy" if self.label.healthy else self.name.partition("_")[0]


@dataclass(frozen=True)
class Score:
    """What the service said of an item, held against its label."""

    item: Item
    cause: bool
    line: bool
    tested: bool
    silent: bool
    blamed: bool
    reported: str


def items(sheet: str) -> list[Item]:
    """Return the items of a sheet, in its order; raise `SheetError` with the name of one that
    cannot be read."""
    found = []
    for section in sections(sheet):
        try:
            found.append(_item(section))
        except ValueError as error:  # of TOML, of its label, and of what may be sent
            raise SheetError(f"{section.title}: {error}") from error
    return found


def _item(section: Section) -> Item:
    traceback = "".join(block.text for block in section.blocks if block.language == "traceback")
    label, sent, *files = (block for block in section.blocks if block.language != "traceback")
    request = DiagnosisRequest(
        script=sent.text,
        filename=sent.name,
        files=[SourceFile(path=block.name, content=block.text) for block in files],
        traceback=traceback,
    )
    return Item(section.title, request, Label.model_validate(tomllib.loads(label.text)))


def score(item: Item, found: Findings) -> Score:
    """The first cause and the first fix count."""
    label = item.label
    first = found.causes[0] if found.causes else None
    right = first is not None and first.pattern in (label.pattern, *label.also)
    place = first is not None and any(
        first.location.line in lines
        and PurePosixPath(first.location.file).name == PurePosixPath(file).name
        for file, lines in (label.lines_by_file or {label.file: label.lines}).items()
    )
    patch = found.patches[0] if found.patches else None
    reported = f"{found.verdict}/{found.basis}: " + (
        f"{first.pattern} at {first.location.file}:{first.location.line}"
        if first
        else found.summary[:150]
    )
    return Score(
        item,
        cause=right,
        line=place,
        tested=patch is not None and patch.verification.status == "passed",
        silent=first is None and not found.next,
        blamed=label.healthy and first is not None,
        reported=reported,
    )


def table(scores: list[Score]) -> list[str]:
    """One row a kind of item."""
    rows = [
        "| items | n | right cause | right line | fix tested | nothing said | blamed |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(s.item.kind for s in scores):
        group = [s for s in scores if s.item.kind == kind]
        if kind == "healthy":
            rows.append(f"| {kind} | {len(group)} | | | | | {sum(s.blamed for s in group)} |")
            continue
        shares = (
            sum(getattr(s, name) for s in group) / len(group)
            for name in ("cause", "line", "tested", "silent")
        )
        reported = " | ".join(f"{share:.0%}" for share in shares)
        rows.append(f"| {kind} | {len(group)} | {reported} | |")
    return rows


def complaints(scores: list[Score]) -> list[str]:
    """What was not right, by name."""
    return [
        f"{s.item.name}: {s.reported}  (is {s.item.label.pattern}, lines {s.item.label.lines})"
        for s in scores
        if s.blamed or not (s.item.label.healthy or (s.cause and s.line))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="pasted", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("batch", help="of the archive, or a folder that holds a pasted.md")
    parser.add_argument("--no-run", action="store_true", help="read only, without the sandbox")
    options = parser.parse_args()
    # The reader's workers import this module again, and must not pay for torch.
    from benchmarks.archive import PASTED, sheets
    from benchmarks.asking import READING, RUNNING, ask

    mode = READING if options.no_run else RUNNING
    known = items(sheets(options.batch)[PASTED])
    answers = asyncio.run(ask([item.request for item in known], [mode]))[mode]
    scores = [score(item, found) for item, found in zip(known, answers, strict=True)]
    print(*table(scores), "", *complaints(scores), sep="\n")


if __name__ == "__main__":
    main()
