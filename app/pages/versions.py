"""Two versions of a project, file by file: what changed, and where the training differs first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analyzers.explain.listed import lowered
from analyzers.source.linediff import matching_blocks
from app.pages.diffs import HunkLine
from app.pages.listing import Gap
from app.present.changes import moment
from app.present.highlight import WIDEST, highlight_lines, lines_of
from app.verdict import Witness

CONTEXT = 3
MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A row of a diff; `note` says what the comparison saw there."""

    row: HunkLine
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changed part of one file. `title` names both files where they have two names."""

    title: str
    lines: tuple[VersionLine | Gap, ...]


Texts = Mapping[str, str]


def file_diffs(
    before: Texts, after: Texts, entries: tuple[str, str], witness: Witness | None
) -> list[FileDiff]:
    """Return the files that differ or that the witness names; the scripts, `entries`, first."""
    pairs = [entries]
    others = sorted({*before, *after} - set(entries))
    pairs += [(name, name) for name in others if before.get(name) != after.get(name)]
    found = []
    for old, new in pairs[:MOST_FILES]:
        rows = list(_rows(before.get(old, ""), after.get(new, "")))
        lines = tuple(_excerpt([_noted(row, old, new, entries, witness) for row in rows]))
        if any(isinstance(line, VersionLine) for line in lines):
            found.append(FileDiff(old if old == new else f"{old} → {new}", lines))
    return found


def _rows(before: str, after: str) -> Iterator[HunkLine]:
    old, new = lines_of(before.removesuffix("\n")), lines_of(after.removesuffix("\n"))
    html_old = highlight_lines(before.removesuffix("\n"), WIDEST)
    html_new = highlight_lines(after.removesuffix("\n"), WIDEST)
    a = b = 0
    for block in matching_blocks(old, new):
        yield from (
            HunkLine("removed", n + 1, None, html_old[n], old[n]) for n in range(a, block.a)
        )
        yield from (HunkLine("added", None, n + 1, html_new[n], new[n]) for n in range(b, block.b))
        for n in range(block.size):
            at, to = block.a + n, block.b + n
            yield HunkLine("same", at + 1, to + 1, html_new[to], new[to])
        a, b = block.a + block.size, block.b + block.size


def _noted(
    row: HunkLine, old: str, new: str, entries: tuple[str, str], witness: Witness | None
) -> VersionLine:
    """The row with what is known of its line: the first loss that differs, on either side."""
    if witness is None:
        return VersionLine(row)
    notes = []
    for number, line, file, name, entry, loss in (
        (row.old, witness.line_before, witness.file_before, old, entries[0], witness.loss_before),
        (row.new, witness.line_after, witness.file_after, new, entries[1], witness.loss_after),
    ):
        if number is not None and number == line and name == (file or entry):
            notes.append(f"{loss:.6g}" if loss is not None else "")
    if not notes:
        return VersionLine(row)
    values = " → ".join(note for note in notes if note)
    when = lowered(moment(witness)) if witness.step else "here"
    return VersionLine(row, f"differs first: {when}" + (f", loss {values}" if values else ""))


def _excerpt(lines: list[VersionLine]) -> Iterator[VersionLine | Gap]:
    """Lines near a change or a note, and how many are left out between them."""
    marked = [n for n, line in enumerate(lines) if line.row.kind != "same" or line.note]
    wanted = {n + off for n in marked for off in range(-CONTEXT, CONTEXT + 1)}
    skipped = 0
    for n, line in enumerate(lines):
        if n not in wanted:
            skipped += 1
            continue
        if skipped:
            yield Gap(skipped)
        skipped = 0
        yield line
    if skipped and marked:
        yield Gap(skipped)
