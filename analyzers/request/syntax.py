"""Find the syntax error that keeps the input from being a Python program, if it was sent as one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzers.paste.pasted import Pasted

MOST_CHANGED = 3  # changed lines; with more of them the input was a paste, not a file
_CODE = set("()[]=:")
_PYTHON_2 = "Missing parentheses in call to"


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A syntax error as Python reports it; `line` and `column` count from 1."""

    line: int
    column: int
    message: str
    code: str


def syntax_fault(pasted: Pasted) -> SyntaxFault | None:
    """Return the error that Python would raise for what was sent, if nearly all of it is a program.
    A paste (prompts, prose around the code, Python 2) is not, and was converted.
    """
    sent = pasted.sent.splitlines()
    changed = sum(
        line.strip() != read.strip()
        for line, read in zip(sent, pasted.text.splitlines(), strict=False)
    )
    if not 0 < changed <= MOST_CHANGED or changed * 2 > sum(bool(line.strip()) for line in sent):
        return None
    try:
        ast.parse(pasted.sent)
    except SyntaxError as error:
        line = error.lineno or 0
        if not 0 < line <= len(sent) or error.msg.startswith(_PYTHON_2) or _is_prose(sent, pasted):
            return None
        return SyntaxFault(line, max(error.offset or 1, 1), error.msg, sent[line - 1].strip())
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _is_prose(sent: list[str], pasted: Pasted) -> bool:
    """Return True if what was left out at an end of the input is prose, as in a post around its
    code.
    """
    kept = [bool(line.strip()) for line in pasted.text.splitlines()]
    at = [n for n, (line, is_kept) in enumerate(zip(sent, kept, strict=False)) if line.strip()]
    ends = (at[0], at[-1]) if at else ()
    return any(not kept[n] and not set(sent[n]) & _CODE for n in ends)
