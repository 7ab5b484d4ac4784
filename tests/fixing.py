"""From a script to a patch that was run: traced, matched, fixed, in plain Python again."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from analyzers.explain.pattern import Match, Pattern, Proposal, patterns
from analyzers.request.explaining import fixes_of, matches_of, patched
from analyzers.request.ranking import in_turns
from analyzers.source.project import Project
from app.run.outcome import may_differentiate
from app.run.run_evidence import observed_evidence
from tests.plain_runs import Given, PlainRuns, ProcessOutcome
from tests.tracing import Tracing


@dataclass(frozen=True)
class Recognised:
    """The surest match of a script, with its pattern's proposals in their order."""

    project: Project
    match: Match
    pattern: Pattern
    proposals: list[Proposal]

    def files(self, proposal: Proposal) -> dict[str, str]:
        """The project with a proposal made."""
        return {**self.project.files, **patched(self.project, proposal)}


def recognise(
    traced: Tracing, script: str, job: Mapping[str, object] | None = None, /, **files: str
) -> Recognised | None:
    """Run a script (`train.py`, with further modules by name) traced, in the slower way unless the
    `job` says otherwise; None if nothing was seen or recognised."""
    texts = {f"{name}.py": textwrap.dedent(text) for name, text in files.items()}
    project = Project({"train.py": textwrap.dedent(script), **texts}, "train.py")
    for mode in ("inplace", "trace"):  # compilers do not compile in the slower way
        how: dict[str, object] = {"mode": mode, **(job or {})}
        if mode == "trace" and may_differentiate(project.files):
            how["gradcheck"] = True
        trace = traced(script, files=texts, **how).trace
        turns = in_turns(matches_of(evidence, project) for evidence in observed_evidence(trace))
        if turns:
            break
    else:
        return None
    match = turns[0][0]
    pattern = patterns()[match.pattern]
    proposals = sorted(fixes_of(match, project), key=lambda p: (p.last_resort, p.rank))
    return Recognised(project, match, pattern, [p for p in proposals if patched(project, p)])


def first_that_runs(found: Recognised, plain: PlainRuns) -> tuple[Proposal, ProcessOutcome, str]:
    """The first proposal whose patched script ends by itself, what came of it, and its
    `train.py`."""
    tried: list[str] = []
    for proposal in found.proposals:
        files = found.files(proposal)
        outcome = plain.outcome(Given(files))
        if outcome.error is None:
            return proposal, outcome, files["train.py"]
        tried.append(f"{proposal.strategy}: {outcome.error}")
    raise AssertionError(f"no proposal runs: {tried}")
