"""How far the service gets with what people paste: parts of scripts, threads, projects.

    python -m benchmarks.pasted DIR [--no-run]

DIR holds one JSON file an item: a request (`script`, `filename`, `files`, `traceback`) and a
`label` (`pattern`, `also`, `lines`, `file`, `lines_by_file`, `healthy`) that a completed program
proved. An item is right where the first cause has the pattern and stands on one of the lines, of
whichever file; a fix counts as tested where it passed its checks. `blamed` counts healthy
items with a cause. Items go through the service's own entry, in the order of their names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from app.schemas import DiagnosisRequest, Findings


@dataclass(frozen=True)
class Item:
    """A request and what is true of it."""

    name: str
    request: DiagnosisRequest
    label: dict[str, Any]

    @property
    def kind(self) -> str:
        return "healthy" if self.label["healthy"] else self.name.partition("_")[0]


@dataclass(frozen=True)
class Score:
    """What the service said of an item, held against its label."""

    item: Item
    cause: bool
    line: bool
    tested: bool
    silent: bool
    blamed: bool
    told: str


def items(directory: Path) -> list[Item]:
    """Every item of a folder."""
    found = []
    for path in sorted(directory.glob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        label = told.pop("label")
        found.append(Item(path.stem, DiagnosisRequest.model_validate(told), label))
    return found


def score(item: Item, found: Findings) -> Score:
    """The first cause and the first fix count."""
    label = item.label
    first = found.causes[0] if found.causes else None
    right = first is not None and first.pattern in (label["pattern"], *label.get("also", ()))
    place = first is not None and any(
        first.location.line in lines
        and PurePosixPath(first.location.file).name == PurePosixPath(file).name
        for file, lines in (label.get("lines_by_file") or {label["file"]: label["lines"]}).items()
    )
    patch = found.patches[0] if found.patches else None
    told = f"{found.verdict}/{found.basis}: " + (
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
        blamed=bool(label["healthy"]) and first is not None,
        told=told,
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
        told = " | ".join(f"{share:.0%}" for share in shares)
        rows.append(f"| {kind} | {len(group)} | {told} | |")
    return rows


def complaints(scores: list[Score]) -> list[str]:
    """What was not right, by name."""
    return [
        f"{s.item.name}: {s.told}  (is {s.item.label['pattern']}, lines {s.item.label['lines']})"
        for s in scores
        if s.blamed or not (s.item.label["healthy"] or (s.cause and s.line))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="pasted", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("directory", type=Path, help="one JSON file an item")
    parser.add_argument("--no-run", action="store_true", help="read only, without the sandbox")
    options = parser.parse_args()
    # The reader's workers import this module anew, and must not pay for torch.
    from benchmarks.asking import READING, RUNNING, ask

    mode = READING if options.no_run else RUNNING
    known = items(options.directory)
    answers = asyncio.run(ask([item.request for item in known], [mode]))[mode]
    scores = [score(item, found) for item, found in zip(known, answers, strict=True)]
    print(*table(scores), "", *complaints(scores), sep="\n")


if __name__ == "__main__":
    main()
