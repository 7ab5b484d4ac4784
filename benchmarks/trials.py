"""A case made ready for a benchmark: what is asked, what is right, and what the baselines do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from app.schemas import DiagnosisRequest, SourceFile
from benchmarks.baselines import retain_everywhere
from benchmarks.plain import Line, Sight, watch
from tests.case_files import Case
from tests.plain_runs import Given, PlainRuns


@dataclass(frozen=True)
class Trial:
    """One case, with the traceback that it really printed.

    `anomaly` is the line that anomaly mode points to; `retain_heals` says whether the probe
    accepts the script with `retain_graph=True` on every backward.
    """

    case: Case
    request: DiagnosisRequest
    runs: PlainRuns
    sight: Sight
    anomaly: Line | None = None
    retain_heals: bool = False

    @property
    def files(self) -> dict[str, str]:
        return {self.request.filename: self.case.stripped, **self.case.files}

    def objections(self, files: dict[str, str]) -> list[str]:
        """Return what the probe objects to in patched files, compared with the case's repairs."""
        patched = Given(files, self.request.filename)
        return self.runs.outcome(patched, self.case.fixed).objections


def prepare(case: Case, baselines: bool = True, runs: PlainRuns | None = None) -> Trial:
    """Run the case and, where wanted, the baselines in plain Python, each in a fork; `runs` may
    recall what came of it."""
    runs = runs or PlainRuns()
    entry = "train" + PurePosixPath(case.entry).suffix
    files = {entry: case.stripped, **case.files}
    sight = runs.sight(Given(files, entry))
    request = DiagnosisRequest(
        script=case.stripped,
        filename=entry,
        files=[SourceFile(path=path, content=text) for path, text in case.files.items()],
        traceback=sight.traceback,
    )
    trial = Trial(case, request, runs, sight)
    if case.healthy or not baselines:
        return trial
    retained = {path: retain_everywhere(path, text) for path, text in files.items()}
    anomaly = watch(files, entry, anomaly=True).anomaly
    return replace(trial, anomaly=anomaly, retain_heals=not trial.objections(retained))
