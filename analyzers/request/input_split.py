"""Split the two inputs into one program and the error that it raises.

Either input accepts anything: a script, a traceback, a whole thread that contains both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from analyzers.paste import Pasted, is_python
from analyzers.paste.margins import numbered, without_quotes
from analyzers.paste.pasted import title_of
from analyzers.paste.programs import Program, programs
from analyzers.paste.reading import Piece, pieces, written
from analyzers.paste.transcripts import located_by_prompts
from analyzers.paste.working import is_said_to_work, is_working_version
from analyzers.tracebacks import ParsedTraceback, lines_of_error, parse
from analyzers.tracebacks.libraries import names_installed

MIN_STATEMENTS = 2  # of code that nothing marks as such, in the box for the traceback

_NAMED = re.compile(r"[A-Za-z.]{0,60}(?:Error|Exception): ")
_LINKED = re.compile(
    r"\[([^\]\[\n]{1,300})\]\((?:vscode-notebook-cell:|https?://localhost)[^)\s]{0,300}\)"
)
Fits = Callable[[str, ParsedTraceback | None], bool]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The program, if the paste contains one, and the error. `others` counts further programs in
    the same paste.
    """

    pasted: Pasted | None
    error: ParsedTraceback | None
    others: int = 0


def split_inputs(script: str, traceback: str, fits: Sequence[Fits]) -> Sorted:
    """Split the inputs into a program and an error. `fits` are tests of a program's source and the
    error: of several programs, the first that passes the first test which any passes is chosen.
    """
    traceback = _unquoted(traceback)
    given = parse(traceback) if traceback.strip() else None
    if not script.strip():
        if given is None:
            return Sorted(None, None)
        found = _pieces(traceback)
        return _chosen(traceback, found if _is_program(found) else [], given, fits)
    if is_python(script):
        return Sorted(Pasted(script, script), given or _noted(script))
    plain = _unquoted(script)
    own = located_by_prompts(parse(plain), plain)
    error = given if given is not None and _is_error(given) else own
    return _chosen(script, _pieces(script), error if _is_error(error) else given, fits)


def _noted(script: str) -> ParsedTraceback | None:
    """Return the error that the script's title quotes, or that comments at its end quote by name
    (`# RuntimeError: …`); None if there is none.
    """
    rows = reversed([line.strip() for line in script.splitlines()])
    notes = [row.lstrip("# ") for row in takewhile(_is_aside, rows)][::-1]
    named = notes if any(map(_NAMED.match, notes)) else []
    for quoted in (title_of(script), "\n".join(named)):
        if quoted and (error := parse(quoted)).family != "other":
            return error
    return None


def _is_aside(row: str) -> bool:
    return not row or row.startswith("#")


def _pieces(text: str) -> list[Piece]:
    """Return the code next to the traceback; if there is none, the code lines that the traceback
    itself shows.
    """
    plain = _unquoted(text)
    lines, skip = plain.splitlines(), lines_of_error(plain)
    found = pieces(lines, skip)
    if _is_program(found):
        return found
    return pieces(lines, skip - _shown(lines)) or found


def _shown(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines of the user's code that a traceback shows around its arrow, if it shows a
    single place; several places make no program. In a named cell, statements without a block say
    less than the frame does.
    """
    own = [run for run in numbered(lines) if not _of_library(lines, run)]
    if len(own) != 1:
        return frozenset()
    in_cell = any(frame.cell is not None for frame in parse("\n".join(lines)).frames)
    if in_cell and not any(lines[n].rstrip().endswith(":") for n in own[0]):
        return frozenset()
    return frozenset(own[0])


def _of_library(lines: Sequence[str], run: range) -> bool:
    """Return True if the lines above name an installed file."""
    return names_installed(" ".join(lines[max(run.start - 2, 0) : run.start]))


def _unquoted(text: str) -> str:
    """Return the input without quotation marks at the line starts, and without the links that
    notebooks put on line numbers and files; the number of lines stays the same.
    """
    text = _LINKED.sub(r"\1", text)
    lines = text.splitlines()
    rows = without_quotes(lines)
    return text if rows == lines else "\n".join(rows) + "\n"


def _is_program(found: Sequence[Piece]) -> bool:
    return sum(len(piece.code) for piece in found) >= MIN_STATEMENTS


def _is_error(error: ParsedTraceback) -> bool:
    return bool(error.exception or error.frames or error.forward_op)


def _chosen(
    text: str, found: Sequence[Piece], error: ParsedTraceback | None, fits: Sequence[Fits]
) -> Sorted:
    plain = _unquoted(text)
    parts = programs(found, lines_of_error(plain), plain.splitlines())
    working = [one for one in parts if is_said_to_work(one.pieces, plain.splitlines())]
    if len(working) < len(parts):
        parts = [one for one in parts if one not in working]
    elif error is not None and error.exception:
        lines = plain.splitlines()
        parts = [one for one in parts if not is_working_version(one.pieces, lines)]
    made = [pasted for one in parts if (pasted := _written(text, one)) is not None]
    if not made:
        return Sorted(None, error)
    if len(made) == 1:
        return Sorted(made[0], error, len(working))
    made = _of_frames(made, error)
    for fit in fits:
        for pasted in made:
            if fit(pasted.text, error):
                return Sorted(pasted, error, len(made) - 1 + len(working))
    return Sorted(_main(made), error, len(made) - 1 + len(working))


def _main(made: Sequence[Pasted]) -> Pasted:
    """Return the first program that is not much shorter than the longest; of those that call
    backward, if any.
    """
    training = [p for p in made if "backward(" in p.text] or made
    longest = max(len(p.text.split()) for p in training)
    return next(p for p in training if 2 * len(p.text.split()) >= longest)


def _written(text: str, program: Program) -> Pasted | None:
    pasted = written(text, program.pieces)
    return pasted if pasted is not None and pasted.text.strip() else None


def _of_frames(made: list[Pasted], error: ParsedTraceback | None) -> list[Pasted]:
    """Return the programs that contain most of the lines which the traceback shows."""
    shown = {f.code.strip() for f in error.frames if not f.is_library} if error else set[str]()
    counts = [len(shown & {line.strip() for line in p.text.splitlines()} - {""}) for p in made]
    return [p for p, count in zip(made, counts, strict=True) if count == max(counts)]
