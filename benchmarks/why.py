"""Show how an answer came about: evidence, the patterns that match it, and what patches showed.

    python -m benchmarks.why train.py [--traceback tb.txt] [--read]

It goes the way of `app/diagnose.py`, one round of it, and prints what each step hands to the next:

- the evidence of static analysis, and that of the run; where they disagree, the run wins;
- for each piece of evidence the patterns that match, with their certainty;
- the causes in their order, with their candidates;
- the candidates that ran, best first, with the term of `app/repair/ranking.py` in which each is
  behind the best, and the checks that it failed.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzers.evidence import Evidence, GraphReuse, MissingGraph
from analyzers.request.causes import RankedCause
from analyzers.request.explaining import matches_of
from app.repair.ranking import Prospect
from app.repair.repairing import repair_faults
from app.repair.tested_candidate import TestedCandidate
from app.request.case import Case, read_case
from app.request.reader import InlineReader
from app.run.explain import explain
from app.run.observation import Observation, as_observed, project_of
from app.run.reproduce import observe
from app.schemas import DiagnosisRequest
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Session


async def why(request: DiagnosisRequest, session: Session | None) -> str:
    """Return the steps to the answer as text; without a session nothing is run."""
    reader = InlineReader()
    case = await read_case(request, reader)
    seen = await observe(case, session)
    causes = await explain(case, seen, reader)
    within = as_observed(session, case, seen)
    result = await repair_faults(case, seen, causes, within, reader, _ignore)
    sections = {
        "Static analysis predicts": map(_described, case.reading.evidence),
        "What counts after the run": map(_described, seen.evidence) if session else (),
        "Patterns that match": _matches(case, seen),
        "Causes, most certain first": map(_cause, causes),
        "Candidates that ran, best first": _trials(result.trials),
    }
    parts = ([title, *(f"  {line}" for line in lines)] for title, lines in sections.items())
    return "\n".join("\n".join(part) for part in parts if len(part) > 1)


async def _ignore(stage: str, done: int, total: int, message: str) -> None: ...


def _described(piece: Evidence) -> str:
    at = getattr(piece, "reached", None) or getattr(piece, "call", None)
    place = at.at if at is not None else getattr(piece, "at", None)
    where = f"{place.file}:{place.line}" if place is not None else "no line"
    kind = f" {piece.kind}" if not isinstance(piece, GraphReuse | MissingGraph) else ""
    edges = piece.stale_edges if isinstance(piece, GraphReuse) else ()
    names = dict.fromkeys(one.path for edge in edges for one in edge.holders)
    carried = f", carried by {', '.join(names)}" if names else ""
    return f"{type(piece).__name__}{kind} ({piece.how}) at {where}{carried}"


def _matches(case: Case, seen: Observation) -> Iterator[str]:
    project = project_of(case, seen)
    for piece in seen.evidence:
        found = sorted(matches_of(piece, project), key=lambda match: -match.certainty)
        named = ", ".join(f"{m.pattern} ({m.certainty.name.lower()})" for m in found)
        yield f"{_described(piece)}: {named or 'none'}"


def _cause(cause: RankedCause) -> str:
    titles = "; ".join(f"{one.title} [rank {one.rank}]" for one in cause.candidates)
    return f"{cause.pattern} at {cause.location.file}:{cause.location.line}: {titles or 'no fix'}"


def _trials(trials: Sequence[TestedCandidate]) -> Iterator[str]:
    for trial in trials:
        failed = [f"{c.name}: {c.detail}" for c in trial.checks if c.status == "failed"]
        behind = _behind(trial.prospect, trials[0].prospect)
        notes = "; ".join([*failed, *([f"behind in {behind}"] if behind else [])])
        effect = f"{trial.status}, {trial.gradients}"
        yield f"{trial.candidate.title} ({effect})" + (f": {notes}" if notes else "")


def _behind(one: Prospect, best: Prospect) -> str:
    """Return the first term in which a prospect is behind; empty if it is not."""
    for name, own, other in zip(one._fields[:-1], one, best, strict=False):
        if own != other:
            return name
    pairs = zip(one.measures._fields, one.measures, best.measures, strict=True)
    return next((name for name, own, other in pairs if own != other), "")


async def main() -> None:
    """Print the steps for one script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("script", type=Path)
    parser.add_argument("--traceback", type=Path, help="a file with the traceback")
    parser.add_argument("--read", action="store_true", help="run nothing")
    options = parser.parse_args()
    request = DiagnosisRequest(
        script=options.script.read_text(),
        filename=options.script.name,
        traceback=options.traceback.read_text() if options.traceback else "",
    )
    if options.read:
        print(await why(request, None))
        return
    sandbox = EmbeddedSandbox()
    try:
        async with sandbox.session() as session:
            print(await why(request, session))
    finally:
        await sandbox.close()


if __name__ == "__main__":
    asyncio.run(main())
