"""The text behind a diagnosis' lines, spelled as the diagnosis spells its files."""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.notebooks.notebook import NotANotebookError, as_typed, is_notebook
from analyzers.request.examine import code_in
from app.request.reader import Reader, ReadingLimit
from app.request.uploads import texts_of
from app.schemas import DiagnosisRequest

CONVERSION_LIMIT_S = 5.0


def entry_of(request: DiagnosisRequest, sources: Mapping[str, str]) -> str:
    """The name of the script among the sources; empty where it could not be converted."""
    name = _converted(request) if is_notebook(request.script) else request.filename
    return name if name in sources else ""


def _converted(request: DiagnosisRequest) -> str:
    """What the script of a notebook's cells is called."""
    return f"{request.filename.removesuffix('.ipynb').removesuffix('.py')}.py"


async def sources_of(request: DiagnosisRequest, reader: Reader | None) -> Mapping[str, str]:
    """Text by file name. A notebook is the script that its cells make up, when a reader is at
    hand to convert it (its JSON is hostile input); else its lines are only quoted. A thread may
    stand in the box for the traceback."""
    sources = texts_of(request.files)
    if is_notebook(request.script):
        name = _converted(request)
        try:
            if reader is not None:
                sources[name] = await reader.call(
                    as_typed, request.script, timeout=CONVERSION_LIMIT_S
                )
        except (NotANotebookError, ReadingLimit):
            return sources
    elif request.script:
        sources[request.filename] = request.script
    elif reader is not None:
        try:
            text = await reader.call(code_in, request.traceback, timeout=CONVERSION_LIMIT_S)
        except ReadingLimit:
            return sources
        sources |= {request.filename: text} if text else {}
    return sources
