"""Is a diagnosis right? Its first cause against the case, its first patch against the probe."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from app.schemas import Cause, Findings, Patch
from benchmarks.plain import Line
from benchmarks.trials import Trial
from tests.case_files import Case


@dataclass
class Score:
    """How one diagnosis did; `wrong` says in words what was not right.

    `cleared` is a healthy script that was called healthy; `level` that of the first patch;
    `misjudged` a wrong first patch that was said to have passed.
    """

    verdict: str
    blamed: bool
    cleared: bool = False
    pattern: bool = False
    place: bool = False
    carrier: bool = False
    patch: bool = False
    level: str = ""
    misjudged: bool = False
    wrong: list[str] = field(default_factory=list)


def score(trial: Trial, findings: Findings) -> Score:
    """Judge one diagnosis. Nothing may be blamed in a healthy script."""
    result = Score(findings.verdict or "none", blamed=bool(findings.causes))
    if trial.case.healthy:
        result.cleared = not result.blamed and result.verdict == "healthy"
        result.wrong = [f"blames {c.pattern}, line {c.location.line}" for c in findings.causes]
        return result
    if findings.causes:
        _score_cause(trial.case, findings.causes[0], result)
    else:
        result.wrong.append(f"no cause: {result.verdict}, {findings.summary}")
    if findings.patches:
        _score_patch(trial, findings.patches[0], result)
    else:
        result.wrong.append("no patch")
    return result


def is_place(case: Case, spot: Line | None) -> bool:
    """Whether `spot` is one of the case's right places. Cells of a notebook match by their text."""
    if spot is None:
        return False
    if case.notebook:
        return spot.code.strip() in _place_texts(case)
    return any(
        place.line == spot.line and Path(spot.file).match(_sent_as(case, place.file))
        for place in case.places
    )


def _score_cause(case: Case, cause: Cause, result: Score) -> None:
    right = (case.pattern, *case.also)
    result.pattern = cause.pattern in right and cause.engine == case.engine
    if not result.pattern:
        result.wrong.append(f"{cause.pattern} ({cause.engine}) instead of {' or '.join(right)}")
    spot = cause.location
    result.place = is_place(case, Line(spot.file, spot.line, spot.code))
    if not result.place:
        right_lines = ", ".join(f"{_sent_as(case, p.file)}:{p.line}" for p in case.places)
        found = f"{spot.file}:{spot.line} ({spot.code.strip()[:60]})"
        result.wrong.append(f"{found} instead of {right_lines}")
    name = cause.carrier.name if cause.carrier else "nobody"
    result.carrier = _bare(name) in map(_bare, case.carriers)
    if not result.carrier:
        result.wrong.append(f"carrier {name} instead of {' or '.join(case.carriers)}")


def _score_patch(trial: Trial, patch: Patch, result: Score) -> None:
    files = trial.files | {file.path: file.content for file in patch.files}
    objections = trial.objections({**files, trial.request.filename: patch.script})
    result.patch, result.level = not objections, patch.level
    if objections:
        status = patch.verification.status
        result.misjudged = status == "passed"
        result.wrong.append(f"patch {patch.strategy}, {status}: {objections[0][:200]}")


def _sent_as(case: Case, file: str) -> str:
    return "train.py" if file == case.entry else file


def _place_texts(case: Case) -> set[str]:
    cells = json.loads(case.stripped)["cells"]
    texts = {place: "".join(cells[(place.cell or 1) - 1]["source"]) for place in case.places}
    return {text.split("\n")[place.line - 1].strip() for place, text in texts.items()}


def _bare(name: str) -> str:
    """`hidden` for `self.hidden`, `model.hidden` and `hidden[0]`: the spelling differs by scope."""
    return re.sub(r"\[.*", "", name).split(".")[-1]
