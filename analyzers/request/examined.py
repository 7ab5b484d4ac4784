"""Define the result of static analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.advice import Hint
from analyzers.evidence import Reading
from analyzers.notebooks.notebook_text import Notebook
from analyzers.paste import Pasted
from analyzers.request.causes import RankedCause
from analyzers.request.syntax import SyntaxFault
from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback


@dataclass(frozen=True, slots=True)
class Examined:
    """The result of static analysis.

    `cells` maps a line of a notebook's script to `cell 4, line 3`; `pasted` are files that were
    converted to Python. If nothing in the source explains the error: `from_traceback` are causes
    from the traceback alone, `hints` are other possible explanations. `others` counts further
    programs in the same paste. `fault`: the syntax error of what was sent as a program;
    `no_program`: no line of it is code. `asked`: the id, in the catalogue of messages, of what the
    words around the code ask where no error is given.
    """

    project: Project
    traceback: ParsedTraceback | None
    reading: Reading
    problem: str | None = None
    cells: dict[int, str] = field(default_factory=dict)
    notebook: Notebook | None = None
    pasted: dict[str, Pasted] = field(default_factory=dict)
    from_traceback: tuple[RankedCause, ...] = ()
    hints: tuple[Hint, ...] = ()
    others: int = 0
    fault: SyntaxFault | None = None
    no_program: bool = False
    asked: str | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """Return the project's files."""
        return self.project.files

    @property
    def entry(self) -> str:
        """Return the path of the entry script."""
        return self.project.entry

    @property
    def recalled(self) -> bool:
        """Return True if the files contain only what a traceback shows."""
        return self.project.recalled
