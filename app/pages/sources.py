"""The text behind a diagnosis' lines, spelled as the diagnosis spells its files."""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.notebook import looks_like_notebook, to_project

from app.schemas import DiagnosisRequest


def sources_of(request: DiagnosisRequest) -> Mapping[str, str]:
    """Text by file name. A notebook is the script that its cells make up."""
    sources = {file.path: file.content for file in request.files}
    if looks_like_notebook(request.script):
        name = request.filename.removesuffix(".ipynb").removesuffix(".py") + ".py"
        sources[name] = to_project(request.script).script
    elif request.script:
        sources[request.filename] = request.script
    return sources
