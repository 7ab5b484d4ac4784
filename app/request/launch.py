"""How the user starts the script: its arguments, `python -m`, data files next to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from analyzers.notebooks.notebook import is_notebook
from app.http.problems import refused
from app.schemas import DiagnosisRequest, SourceFile
from sandbox.protocol import Job, RunResult, Session


@dataclass(frozen=True)
class Launch:
    """The same for every run of a diagnosis: the original, its references, each candidate.

    `data`: relative path → base64 of a file that is no text.
    """

    args: tuple[str, ...] = ()
    module: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: DiagnosisRequest) -> Launch:
        """Return what a request asks for."""
        data = {f.path: f.content for f in request.files if f.encoding == "base64"}
        return cls(tuple(request.args), request.module, data)

    def around(self, session: Session | None) -> Session | None:
        """Return the session, with every job started this way."""
        return session and _Launched(session, self)


@dataclass(frozen=True)
class _Launched:
    session: Session
    launch: Launch

    async def run(self, job: Job) -> RunResult:
        asked = {
            "argv": list(self.launch.args),
            "module": self.launch.module,
            "data": dict(self.launch.data),
        }
        return await self.session.run(job.model_copy(update=asked))


def with_entry(request: DiagnosisRequest) -> DiagnosisRequest:
    """Return the request with its module's file as the script.

    Raise `ProblemError` if the module is not a dotted name, or not among the files.
    """
    module = request.module
    if module is None:
        return request
    if not all(part.isidentifier() for part in module.split(".")):
        raise refused("module", f"{module[:80]!r} is no module's name; use `package.train`")
    paths = list(paths_of(module))
    if request.script.strip():
        return _named(request, paths)
    for file in request.files:
        if file.path in paths and file.encoding == "utf-8":
            return request.model_copy(
                update={
                    "script": file.content,
                    "filename": file.path,
                    "files": [other for other in request.files if other is not file],
                }
            )
    raise refused("module", f"{module!r} is not among the files; send {paths[0]}")


def _named(request: DiagnosisRequest, paths: list[str]) -> DiagnosisRequest:
    """Return the request with a script that was sent with the module's name as the module's
    file."""
    if is_notebook(request.script):
        raise refused("module", "a notebook is not run as a module; leave `module` out")
    if request.filename in paths:
        return request
    if "filename" in request.model_fields_set and request.filename != "train.py":
        raise refused("module", f"{request.module!r} is not {request.filename}; send {paths[0]}")
    return request.model_copy(update={"filename": _place(paths, request.files)})


def _place(paths: list[str], files: Iterable[SourceFile]) -> str:
    """Return the module's possible path that has files of the request next to it."""
    folders = {file.path.rpartition("/")[0] for file in files}
    return next((path for path in paths if path.rpartition("/")[0] in folders), paths[0])


def paths_of(module: str) -> Iterable[str]:
    """Return the possible paths of a module in a project, `src/` layouts included."""
    inner = module.replace(".", "/")
    for root in ("", "src/"):
        yield f"{root}{inner}.py"
        yield f"{root}{inner}/__main__.py"
