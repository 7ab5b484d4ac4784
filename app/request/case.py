"""What was sent, read: the project, the traceback, and what reading predicts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from analyzers.advice import Hint
from analyzers.evidence import Reading
from analyzers.notebooks.notebook_text import Notebook
from analyzers.paste import Pasted
from analyzers.request.causes import RankedCause
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.request.syntax import SyntaxFault
from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback
from app.request.reader import Reader, ReadingLimit
from app.request.uploads import texts_of
from app.schemas import DiagnosisRequest
from provenance import CodeLine
from sandbox.records import Trace

READING_LIMIT_S = 10.0
BYTE_ORDER_MARK = "\ufeff"
_OF_ERROR = re.compile(r"\b(?:error|exception|traceback|crash|fails?|failed)\b|报错|错误", re.I)

_DOUBTED = re.compile(
    r"silently|(?:wrong|incorrect|different) (?:grad|result|value|output)|mismatch|"
    r"(?:doesn['’]?t|don['’]?t|does not|do not) match|differs? (?:from|between)",
    re.I,
)  # what words say of results that no run here can compare


@dataclass(frozen=True)
class Case:
    """A request as the analyses see it. `problem` says why the source could not be read.

    `cells` maps a line of a notebook's script to `cell 4, line 3`; `pasted` are files that were
    converted to Python and convert their patches back. `from_traceback`, `hints`, `others`,
    `fault`, `no_program` and `asked` are as in `Examined`.
    """

    project: Project
    traceback: ParsedTraceback | None
    reading: Reading
    time_limit_s: float
    trace: Trace | None = None
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
    def runnable(self) -> bool:
        """Return True if there is a script that can be given to the sandbox."""
        if self.problem is not None or self.project.recalled:
            return False
        return bool(self.project.files.get(self.project.entry, "").strip())

    @property
    def is_error_given(self) -> bool:
        """Return True if a traceback names an error."""
        return self.traceback is not None and bool(self.traceback.exception)

    @property
    def words(self) -> str:
        """Return the words around the code that was sent."""
        pasted = self.pasted.get(self.project.entry)
        return pasted.around if pasted is not None else ""

    @property
    def words_speak_of_error(self) -> bool:
        """Return True if the words around the code say that something fails."""
        return _OF_ERROR.search(self.words) is not None

    @property
    def words_doubt_results(self) -> bool:
        """Return True if the words around the code say that what it computes is wrong."""
        return _DOUBTED.search(self.words) is not None

    @property
    def speaks_of_error(self) -> bool:
        """Return True if words of what was sent say that something fails."""
        return _OF_ERROR.search(self.project.files.get(self.project.entry, "")) is not None

    def cell_of(self, place: CodeLine) -> str | None:
        """Return a notebook's own name of a place: `cell 4, line 3`; None for other files."""
        return self.cells.get(place.line) if place.file == self.project.entry else None


async def read_case(request: DiagnosisRequest, reader: Reader) -> Case:
    """Read everything that was sent, in a bounded worker."""
    script = request.script.removeprefix(BYTE_ORDER_MARK)
    texts = texts_of(request.files)
    files = {path: text.removeprefix(BYTE_ORDER_MARK) for path, text in texts.items()}
    trace = None
    try:
        if request.trace.strip():
            from sandbox.collect import read_trace  # a command that only reads has no trace

            data = request.trace.encode()
            trace, _ = await reader.call(read_trace, data, timeout=READING_LIMIT_S)
        read: Examined = await reader.call(
            examine,
            script,
            request.filename,
            files,
            request.traceback,
            timeout=READING_LIMIT_S,
        )
    except ReadingLimit as limit:
        project = Project({request.filename: script, **files}, request.filename)
        return Case(project, None, Reading(), request.time_limit_s, trace, str(limit))
    return Case(
        read.project,
        read.traceback,
        read.reading,
        request.time_limit_s,
        trace,
        read.problem,
        read.cells,
        read.notebook,
        read.pasted,
        read.from_traceback,
        read.hints,
        read.others,
        read.fault,
        read.no_program,
        read.asked,
    )
