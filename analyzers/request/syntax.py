"""Find the syntax error that keeps the input from being a Python program, if it was sent as one."""

from __future__ import annotations

import ast
import re
import warnings
from codeop import compile_command
from collections.abc import Mapping
from dataclasses import dataclass

from analyzers.paste import is_python
from analyzers.paste.pasted import Pasted

MOST_CHANGED = 3  # changed lines; with more of them the input was a paste, not a file
MOST_BEGUN = 40  # lines that are tried, of an input of which none is complete
MOST_WORDS = 6  # of which each follows another, with nothing but a space between
_WORDS = re.compile(r"[A-Za-z']{1,30} (?=[A-Za-z])")
_UNPARTED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{4}")  # no spaces: Japanese, Chinese
_CODE = set("()[]=:")
_HEAD = "Traceback (most recent call last)"
_PYTHON_2 = "Missing parentheses in call to"


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A syntax error as Python reports it; `line` and `column` count from 1."""

    line: int
    column: int
    message: str
    code: str


def syntax_fault(pasted: Pasted) -> SyntaxFault | None:
    """Return the error that Python would raise for what was sent, if nearly all of it is a program,
    or no line of it is complete code and one begins as code.
    A paste (prompts, prose around the code, Python 2) is not, and was converted.
    """
    sent = pasted.sent.splitlines()
    if not (_is_nearly_program(sent, pasted) or _begins_as_code(sent, pasted)):
        return None
    fault = _fault(pasted.sent)
    if fault is None or fault.message.startswith(_PYTHON_2) or _is_prose(sent, pasted):
        return None
    return fault


def new_fault(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[str, SyntaxFault] | None:
    """Return the first file of a changed project that Python refuses, with its error; None if there
    is none, or if Python refused it before the change, too (a paste).
    """
    for path, text in after.items():
        old = before.get(path)
        if path.endswith(".py") and text != old and (old is None or _fault(old) is None):
            fault = _fault(text)
            if fault is not None:
                return path, fault
    return None


def _fault(text: str) -> SyntaxFault | None:
    """Return the error that Python raises for a program."""
    lines = text.splitlines()
    try:
        ast.parse(text)
    except SyntaxError as error:
        line = error.lineno or 0
        if 0 < line <= len(lines):
            return SyntaxFault(line, max(error.offset or 1, 1), error.msg, lines[line - 1].strip())
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _is_nearly_program(sent: list[str], pasted: Pasted) -> bool:
    """Return True if a few lines were changed, and most were not."""
    read = pasted.text.splitlines()
    changed = sum(a.strip() != b.strip() for a, b in zip(sent, read, strict=False))
    lines = sum(bool(line.strip()) for line in sent)
    return 0 < changed <= MOST_CHANGED and changed * 2 <= lines


def _begins_as_code(sent: list[str], pasted: Pasted) -> bool:
    """Return True if nothing of the input was converted, and a line of it is a statement's
    beginning: `print('hi'`.
    """
    if pasted.text != pasted.sent or len(sent) > MOST_BEGUN or any(map(_is_text, sent)):
        return False
    return any(set(line) & _CODE and not _has_words(line) and _is_begun(line) for line in sent)


def _is_text(line: str) -> bool:
    """Return True if a line is prose, or as in a post (a fence, the head of a traceback)."""
    said = line.split("#")[0].strip()
    few = len(_WORDS.findall(said)) >= MOST_WORDS // 2 and not set(said) & _CODE
    return (
        said.startswith("```")
        or _HEAD in said
        or ((few or _has_words(said)) and not is_python(said))
    )


def _is_begun(line: str) -> bool:
    """Return True if Python would wait for the rest of a statement after this line."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return compile_command(line.strip()) is None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False


def _is_prose(sent: list[str], pasted: Pasted) -> bool:
    """Return True if what was left out at an end of the input is prose, as in a post around its
    code.
    """
    kept = [bool(line.strip()) for line in pasted.text.splitlines()]
    at = [n for n, line in enumerate(sent) if line.strip()]
    if pasted.text == pasted.sent and at and not set(sent[at[-1]]) & _CODE:
        return len(_WORDS.findall(sent[at[-1]])) >= MOST_WORDS // 2
    ends = (at[0], at[-1]) if at else ()
    return any(not kept[n] and (not set(sent[n]) & _CODE or _has_words(sent[n])) for n in ends)


def _has_words(line: str) -> bool:
    """Return True if more words follow each other in a line than in any code, or signs of a script
    that parts no words.
    """
    return len(_WORDS.findall(line)) >= MOST_WORDS or _UNPARTED.search(line) is not None
