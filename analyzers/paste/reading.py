"""From the lines of a paste to pieces of code, each line judged for what it is."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzers.paste.diffs import after_changes
from analyzers.paste.layout import LEFT_OUT, TAB, Code, is_restored, laid_out
from analyzers.paste.logical import Lines, Logical
from analyzers.paste.margins import without_numbers, without_speakers
from analyzers.paste.parsing import (
    is_python,
    is_sentence,
    opens_block,
    statement,
    statement_acts,
)
from analyzers.paste.pasted import Pasted
from analyzers.paste.quoted import with_quoted
from analyzers.paste.regions import Region, regions, without_prompts
from analyzers.paste.repairs import repaired
from analyzers.source.cells import is_marker

MAX_LINES = 12_000
MAX_JUDGED = 4_000_000  # characters parsed for one paste, line by line
PER_LINE = 100  # what judging a line costs besides, in characters
ATTEMPTS = 8  # at a line that does not parse as it stands
MAX_PARSED = 2_000_000  # characters parsed to find what does not fit in


@dataclass(frozen=True, slots=True)
class Piece:
    """Code that stands together: a block between fences or sentences."""

    code: tuple[Code, ...]
    marked: bool = False


def pieces(lines: Sequence[str], skip: frozenset[int] = frozenset()) -> list[Piece]:
    """The pieces of code in a text; `skip` are indexes of lines that are known to be none. Where
    any code is marked as such, only what is marked counts. A text that is too long has none."""
    if len(lines) > MAX_LINES:
        return []
    with warnings.catch_warnings(action="ignore"):  # a paste's escapes are not ours
        lines = after_changes(without_numbers(without_speakers(lines), skip))
        plain = [None if at in skip else line for at, line in enumerate(without_prompts(lines))]
        reader = _Reader(["" if line is None else line for line in plain], plain)
        found = [piece for region in regions(lines) for piece in reader.read(region)]
        if not any(statement_acts(code.text) for piece in found for code in piece.code):
            return []
    marked = [piece for piece in found if piece.marked]
    return marked or found


class _Reader:
    """Judges lines, with an end to how much is parsed."""

    def __init__(self, lines: list[str], plain: Sequence[str | None]) -> None:
        self.lines = Lines(lines)
        self.plain = plain
        self.left = MAX_JUDGED

    def read(self, region: Region) -> Iterator[Piece]:
        """The pieces of one region: a marked one is one piece, whatever stands in it, unless all of
        it could as well be printed. Another one ends where lines that are known to be none part it
        from what goes on at its margin."""
        code: list[Code] = []
        parted = False
        body = 0  # the column beyond which lines belong to a header above
        at = region.start
        while at < region.end:
            line = self.plain[at]
            if line is None or not line.strip() or line.lstrip().startswith("#"):
                parted |= line is None
                at += 1
                continue
            found, idle = self._code(at, region, body if code else 0, code[-1:])
            if line.rstrip() in LEFT_OUT and not region.marked:  # what follows is from elsewhere
                found, idle = None, False
            if found is None and not (idle or region.marked) and code and not line[:1].isspace():
                yield Piece(tuple(code))
                code = []
            if found is not None:
                if parted and code and not region.marked:
                    if found.column() <= min(one.column() for one in code):
                        yield Piece(tuple(code))
                        code = []
                parted = False
                code.append(replace(found, begins=not code))
                body = found.column() + 1 if found.header else min(body, found.column())
                at = found.line.last
            at += 1
        if code and not (region.marked and all(map(_is_printed, code))):
            yield Piece(tuple(code), region.marked)

    def _code(
        self, at: int, region: Region, body: int, above: Sequence[Code]
    ) -> tuple[Code | None, bool]:
        """What begins at this line, if it is code; and whether it is idle, word or result."""
        for line in self.lines.starting_at(at, region.end):
            as_it_is = statement(line.text)
            self.left -= (len(line.text) + PER_LINE) * (1 if as_it_is else ATTEMPTS)
            if self.left < 0:
                break
            text = repaired(line.text)
            node = statement(text) if text is not None else None
            if text is None or node is None:
                continue
            within = region.marked or (body > 0 and bool(line.indent)) or _is_field(node, above)
            if is_sentence(node) and not within:
                return None, True
            return Code(line, text, opens_block(text)), False
        return None, False


def _is_field(node: ast.stmt, above: Sequence[Code]) -> bool:
    """Whether it is a field of a class, `loss: torch.Tensor`, below its header or another field."""
    match node, statement(above[-1].text) if above else None:
        case ast.AnnAssign(), ast.ClassDef() | ast.AnnAssign():
            return True
    return False


def _is_printed(code: Code) -> bool:
    """Whether a line between fences could as well be output: `x.shape: torch.Size([2])`,
    `x.grad = tensor([1.])`."""
    match statement(code.text):
        case ast.Assign(value=ast.Call(func=ast.Name()) as value):
            return is_sentence(ast.Expr(value))
        case ast.stmt() as node:
            return is_sentence(node)
    return False


def legible(text: str) -> Pasted | None:
    """A text of which all is code, or None where nothing in it is. Python stays as it is."""
    if is_python(text):
        return Pasted(text, text)
    found = pieces(text.splitlines())
    return written(text, found) if found else None


def too_long(text: str) -> bool:
    """Whether a text has more lines than are judged."""
    return text.count("\n") >= MAX_LINES


def written(text: str, parts: Sequence[Piece]) -> Pasted | None:
    """The paste with these pieces alone, as Python. A statement that no repair fits in (an `else`
    of nothing) is left out; None where that does not end."""
    code = _without_lone_decorators([line for part in parts for line in part.code])
    for _ in range(max(MAX_PARSED // len(text), 1)):
        if not code:
            break
        python = "".join(_rows(text, code))
        fault = _fault(python)
        if fault is None:
            return Pasted(with_quoted(python, text), text, is_restored(code))
        kept = [c for c in code if not c.line.first <= fault - 1 <= c.line.last]
        code = kept if len(kept) < len(code) else code[:-1]
    return None


def _without_lone_decorators(code: list[Code]) -> list[Code]:
    """`@somebody` with no function below it is the name of a person."""
    kept: list[Code] = []
    for piece in reversed(code):
        below = kept[-1].text if kept else ""
        if not piece.text.startswith("@") or below.startswith(("@", "def ", "class ", "async ")):
            kept.append(piece)
    return kept[::-1]


def _rows(text: str, code: Sequence[Code]) -> list[str]:
    """Every line of the paste with its end: blank, the marker of a cell, or a statement in its
    place."""
    sent = text.splitlines(keepends=True)
    ends = [line[len(line.rstrip("\r\n")) :] or "" for line in sent]
    rows = list(ends)
    mixed = len({sign for piece in code for sign in piece.line.indent}) > 1
    for piece, (column, put) in zip(code, laid_out(code), strict=True):
        rows_of = _placed(piece.line, column, put, mixed)
        for at, row in enumerate(rows_of, piece.line.first):
            rows[at] = row + ends[at]
    for at, line in enumerate(sent):
        if rows[at] == ends[at] and is_marker(line):
            rows[at] = line
    return [*rows[:-1], rows[-1] or "\n"]  # so that the last line is one, too


def _placed(line: Logical, column: int, text: str, mixed: bool) -> list[str]:
    """The physical lines of a statement, the first at its column, the rest as far left of where
    they stood as the first. `mixed`: some lines of the paste stand behind tabs, some do not."""
    head, *rest = text.split("\n")
    stays = not mixed and len(line.indent.expandtabs(TAB)) == column
    lead = line.indent if stays else " " * column
    moved = line.indent.removesuffix(lead) if line.indent.endswith(lead) else ""
    return [f"{lead}{head}", *(other.removeprefix(moved) for other in rest)]


def _fault(python: str) -> int | None:
    """The line at which the parser stops; None where it does not."""
    try:
        ast.parse(python)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None
