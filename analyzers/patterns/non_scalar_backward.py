"""`backward()` was called on a tensor with more than one element.

What happens: the loss is a vector (one value for each sample, position or device), or
`autograd.grad` was asked for the derivative of one, and no weights for its values were given.

Why: a backward multiplies a vector with the Jacobian. For a single number, that vector is 1; for
several values, PyTorch cannot know which combination is meant.

The fix: reduce the loss, `loss.mean()` or `loss.sum()`, whichever the rest of the script is tuned
for. For the derivative of every output by its own input, `y.sum()` is exact, because each output
depends only on its own input.

When this fix is wrong: when the values have weights of their own. Then pass them:
`loss.backward(weights)`, in the loss's own shape; a gradient of another shape is refused, and a
single number needs none. `.mean()` and `.sum()` differ by a factor, which acts like another
learning rate.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    loss = (model(x) - y) ** 2
    loss.backward()

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, KnownError, MissingGraph
from analyzers.explain.missing import kind_of, matched
from analyzers.explain.pattern import Match, Proposal, evidence_in
from analyzers.explain.sentences import missing
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.combine.combining import fitting_gradient, reduced
from analyzers.source.project import Project

ID = "GM023"
NAME = "non-scalar-backward"
FAMILY = "no-grad"
TITLE = "Backward from a tensor with several elements"
KIND = "non-scalar"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a backward call from a tensor that is no single number, or one that is given a gradient
    which does not fit.
    """
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "non-scalar":
        return None
    return matched(NAME, evidence, Certainty.CERTAIN, evidence.at)


def explain(match: Match, project: Project) -> str:
    """Explain which tensor it is, and its shape."""
    evidence = evidence_in(match, MissingGraph)
    shape = f" It has the shape {list(evidence.shape)}." if evidence.shape else ""
    return missing(match, project) + shape + " Only a single number has a gradient by itself."


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose to reduce the loss where it is computed, else at its backward call; or to hand in a
    gradient that fits.
    """
    where = resolve_location(project, match.location)
    if where is None:
        return
    if isinstance(match.evidence, KnownError):
        yield from fitting_gradient(where, match.evidence.message)
    else:
        yield from reduced(where)
