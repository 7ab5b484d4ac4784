"""A case made ready for a benchmark: what is asked, what is right, and what the baselines do."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.schemas import DiagnosisRequest, SourceFile
from benchmarks.baselines import retain_everywhere
from benchmarks.plain import Line, Sight, watch
from tests.case_files import Case
from tests.probe import Record, judge, run


@dataclass(frozen=True)
class Trial:
    """One case, with the traceback that it really printed.

    `anomaly` is the line that anomaly mode points to; `retain_heals` says whether the probe
    accepts the script with `retain_graph=True` on every backward.
    """

    case: Case
    request: DiagnosisRequest
    accepted: tuple[Record, ...]
    sight: Sight
    anomaly: Line | None = None
    retain_heals: bool = False

    @property
    def files(self) -> dict[str, str]:
        return {self.request.filename: self.case.stripped, **self.case.files}


def prepare(case: Case, baselines: bool = True) -> Trial:
    """Run the case, its repairs and, where wanted, the baselines in plain Python, each in a
    fork."""
    return prepared(case, tuple(run(path) for path in case.fixed), baselines)


def prepared(case: Case, accepted: tuple[Record, ...], baselines: bool = False) -> Trial:
    """The same, for a case whose repairs ran already."""
    entry = "train" + case.path.suffix
    files = {entry: case.stripped, **case.files}
    sight = watch(files, entry)
    request = DiagnosisRequest(
        script=case.stripped,
        filename=entry,
        files=[SourceFile(path=path, content=text) for path, text in case.files.items()],
        traceback=sight.traceback,
    )
    if case.healthy or not baselines:
        return Trial(case, request, accepted, sight)
    retained = {path: retain_everywhere(path, text) for path, text in files.items()}
    return Trial(
        case,
        request,
        accepted,
        sight,
        anomaly=watch(files, entry, anomaly=True).anomaly,
        retain_heals=not judge(run_files(retained, entry), accepted),
    )


def run_files(files: dict[str, str], entry: str) -> Record:
    """The probe's record of a project, run in plain Python in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        for path, text in files.items():
            target = Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return run(Path(directory, entry))
