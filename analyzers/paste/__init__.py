"""Pasted text as Python: what is no code is left blank, and lines keep their numbers.

People paste a whole thread, a transcript, a cell with its output, an indented part of a function,
a file for Python 2. Everything here works line by line, so that line 12 of what is read is line 12
of what was pasted, and a patch can be shown in the pasted text.
"""

from __future__ import annotations

from analyzers.paste.parsing import is_python
from analyzers.paste.pasted import UNCHANGED, Pasted
from analyzers.paste.programs import Program, programs
from analyzers.paste.reading import legible, pieces, too_long

__all__ = [
    "UNCHANGED",
    "Pasted",
    "Program",
    "is_python",
    "legible",
    "pieces",
    "programs",
    "too_long",
]
