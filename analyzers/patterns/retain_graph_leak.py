"""`retain_graph=True` hides a state that was never detached.

What happens: a state carries its history from iteration to iteration, and `retain_graph=True` was
added because the error message suggested it. Nothing is raised any more. Each backward runs one
iteration further back than the last: time and memory per step grow, and gradients flow through
values that were computed with weights that have changed since.

Why: the flag keeps what a backward call would free. It does not shorten the history.

The fix: detach the state at the start of the next iteration (truncated backpropagation through
time), and remove the flag.

When this fix is wrong: when the windows overlap on purpose, or two losses share one forward in the
same iteration. There the flag is right, and nothing grows from step to step.

Broken::

    import torch

    cell = torch.nn.RNNCell(2, 4)
    hidden = torch.zeros(1, 4)
    for _ in range(8):
        hidden = cell(torch.randn(1, 2), hidden)
        hidden.pow(2).mean().backward(retain_graph=True)

Fixed::

    import torch

    cell = torch.nn.RNNCell(2, 4)
    hidden = torch.zeros(1, 4)
    for _ in range(8):
        hidden = hidden.detach()
        hidden = cell(torch.randn(1, 2), hidden)
        hidden.pow(2).mean().backward()
"""

from __future__ import annotations

from analyzers.evidence import Evidence
from analyzers.explain.pattern import CrossedBoundary, Match
from analyzers.explain.sentences import measured
from analyzers.explain.silent_matches import matched, silent
from analyzers.repair.cut.leaking import carried, detach_and_release, release_after_call
from analyzers.source.project import Project

ID = "GM030"
NAME = "retain-graph-leak"
FAMILY = "silent"
SHOWN_AS = "graphs"
TITLE = "retain_graph hides a state that is never detached"
SEEN_AS = "reaching-back"
FIGURES = "Graph nodes that a backward goes through, call by call"
PREFERS = (detach_and_release, release_after_call)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match backward calls with kept graphs that reach further back each time."""
    fault = silent(evidence, SEEN_AS)
    if fault is None:
        return None
    first = next(iter(carried(fault, project)), None)
    found = matched(NAME, fault, carrier=first.carrier if first is not None else None)
    if found is None or first is None:
        return found
    return Match(
        NAME,
        found.certainty,
        fault,
        found.location,
        found.carrier,
        CrossedBoundary("loop", first.place),
    )


def explain(match: Match, project: Project) -> str:
    """Explain which state it is, and how the backward calls grew."""
    who = f"`{match.carrier.name}`" if match.carrier else "A value"
    return (
        f"{who} goes from iteration to iteration with its whole history, which "
        "`retain_graph=True` keeps. "
        f"{measured(match, project, FIGURES)}"
    )
