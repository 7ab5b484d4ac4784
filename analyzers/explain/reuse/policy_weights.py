"""Find what weighs the log-probabilities of a policy's loss: a constant for that loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.explain.bootstrap_targets import BootstrapTarget, made_before
from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import SourceLocation
from analyzers.explain.weighing import weights
from analyzers.source import priors
from analyzers.source.flow import statements_of, walk_scope
from analyzers.source.gathered_tensors import joined_to
from analyzers.source.project import spelled
from provenance import CodeLine


def weighs_log_probability(story: ReuseFeatures) -> bool:
    """Return True if a value computed from the carrier, or from what it gathers, multiplies a
    log-probability."""
    own = any(_weighing(story, {story.name}, by_name=False))
    return own or gathered_weight(story) is not None


def _weighing(story: ReuseFeatures, names: Set[str], *, by_name: bool) -> Iterator[ast.expr]:
    """Yield the factors of log-probabilities that are computed from one of these names: weights of
    a policy gradient."""
    scope = story.frame.scope
    for weight, rest in weights(scope, walk_scope(scope), by_name=by_name):
        if names & made_of(scope, weight) and not names & made_of(scope, rest):
            yield weight


def gathered_weight(story: ReuseFeatures) -> BootstrapTarget | None:
    """Return the weight that is computed from what the carrier gathers (`torch.cat`), next to what
    is at least named a log-probability if the weight is named an advantage."""
    scope, module = story.frame.scope, story.frame.module
    joined_ones = (joined_to(story.name, statement) for statement in statements_of(scope))
    names = {spelled(one) for ones in joined_ones for one in ones}
    found = [*_weighing(story, names, by_name=False)]
    named = _weighing(story, names, by_name=True)
    found += [weight for weight in named if priors.is_advantage(spelled(weight))]
    statement = module.statement_at(found[0].lineno) if found else None
    if statement is None:
        return None
    where = SourceLocation(module, statement, CodeLine(module.path, found[0].lineno))
    return BootstrapTarget(where, found[0], made_before(where, found[0]), weighs=True)
