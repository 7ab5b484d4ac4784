"""Order candidates by what their runs have shown."""

from __future__ import annotations

from typing import NamedTuple

from analyzers.request.causes import Candidate


class Measures(NamedTuple):
    """What the runs of a candidate show, worst when greatest; nothing is wrong if all is zero.

    `gradients` is the rank of the measured effect. Gradients that equal a reference are intended,
    whichever optimizer steps; otherwise (`differs`) a step belongs to its own loss, however near
    its gradients come.
    """

    differs: bool = False
    loses_gradient: bool = False
    gradients: int = 0
    feeds_others: bool = False
    retains: bool = False
    keeps_growing: bool = False


class Prospect(NamedTuple):
    """What decides between candidates before their size does; the smaller is the better.

    Checks and problems that a run found come first, then what only the proposal knows (last resort,
    certainty of its cause, choice of its pattern), then the other measures.
    """

    failed_checks: int
    has_problem: bool
    last_resort: bool
    turn: int
    choice: int
    measures: Measures


class Merit(NamedTuple):
    """The sort key of a tested candidate. Among patches that leave the gradients the same, the
    shorter comes first; among those that do not, the one that keeps more of the graph.
    """

    prospect: Prospect
    leaves: int  # with a gradient, negative
    lines_if_same: int
    rank: int
    nodes_if_not_same: int  # of the graph, negative
    lines: int


def best_case(candidate: Candidate, turn: int) -> Prospect:
    """Return the prospect of a candidate that has not run: nothing is wrong with it."""
    return Prospect(0, False, candidate.last_resort, turn, candidate.choice, Measures())
