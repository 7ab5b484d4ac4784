"""A case made ready for a benchmark: what is asked, what is right, and what the baselines do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from app.schemas import DiagnosisRequest, SourceFile
from benchmarks.baselines import retain_everywhere
from benchmarks.plain import Line, Sight, watch
from tests.case_files import Case
from tests.plain_runs import run_files, run_once
from tests.probe import Record, judge


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
    return prepared(case, tuple(run_once(variant) for variant in case.fixed), baselines)


def prepared(case: Case, accepted: tuple[Record, ...], baselines: bool = False) -> Trial:
    """The same, for a case whose repairs ran already."""
    entry = "train" + PurePosixPath(case.entry).suffix
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
