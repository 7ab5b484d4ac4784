"""No input of a reentrant checkpoint requires a gradient.

What happens: reentrant checkpointing runs its part without recording, and gives the output a graph
only if one of the inputs requires a gradient. With a frozen embedding (LoRA and other adapters), or
with plain data as input, none does. Nothing inside the part learns: backward raises if nothing else
requires a gradient; otherwise the adapters silently keep their initial values.

The fix: checkpoint with `use_reentrant=False` (Trainer:
`gradient_checkpointing_kwargs={"use_reentrant": False}`), or call
`model.enable_input_require_grads()` before training.

When this fix is wrong: `loss.requires_grad_()` is no alternative: it removes the error message, and
nothing learns.

Broken::

    import torch
    from torch.utils.checkpoint import checkpoint

    embed, block, head = torch.nn.Embedding(10, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    embed.requires_grad_(False)
    head.requires_grad_(False)
    optimizer = torch.optim.SGD(block.parameters(), lr=0.1)
    tokens = torch.randint(0, 10, (4,))
    loss = head(checkpoint(block, embed(tokens), use_reentrant=True)).pow(2).mean()
    loss.backward()
    optimizer.step()

Fixed::

    import torch
    from torch.utils.checkpoint import checkpoint

    embed, block, head = torch.nn.Embedding(10, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    embed.requires_grad_(False)
    head.requires_grad_(False)
    optimizer = torch.optim.SGD(block.parameters(), lr=0.1)
    tokens = torch.randint(0, 10, (4,))
    loss = head(checkpoint(block, embed(tokens), use_reentrant=False)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.advice import Hint
from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph, SilentFault
from analyzers.explain.known import with_line
from analyzers.explain.listed import some
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import line
from analyzers.explain.silent_matches import matched as matched_silent
from analyzers.explain.silent_matches import silent
from analyzers.repair.settings.checkpointing import (
    checkpoint_around,
    checkpoint_hint,
    has_frozen,
    not_reentrant,
)
from analyzers.source.project import Project

ID = "GM040"
NAME = "checkpoint-input"
FAMILY = "no-grad"
TITLE = "Nothing that goes into a reentrant checkpoint requires a gradient"
KIND = "checkpoint-input"
BEFORE = ("detached-loss", "starved-parameter")
PREFERS = (not_reentrant,)
_REMEDY = (
    'set `use_reentrant=False` (Trainer: `gradient_checkpointing_kwargs={"use_reentrant": '
    "False}`), or call `model.enable_input_require_grads()` before training."
)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a checkpoint that cut its part off, or source that checkpoints a frozen part."""
    if (fault := silent(evidence, "unfed-parameters")) is not None:
        at = checkpoint_around([fault.at], project) if not fault.doubtful else None
        found = matched_silent(NAME, fault, at) if at is not None else None
        return _with_remedy(found, None) if found is not None else None
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "detached":
        return None
    at = checkpoint_around([*evidence.ended_stack, evidence.ended_at], project)
    if evidence.lost_by == "no_grad" and at is not None:
        return _with_remedy(Match(NAME, Certainty.CERTAIN, evidence, at), None)
    if evidence.lost_by != "unknown" or not has_frozen(project):
        return None
    if (hint := checkpoint_hint(evidence.message, project)) is None:
        return None
    place = hint.place or evidence.at
    return _with_remedy(Match(NAME, Certainty.LIKELY, evidence, place), hint) if place else None


def _with_remedy(found: Match, hint: Hint | None) -> Match:
    shown = _REMEDY if hint is None else hint.text if hint.place else with_line(hint)
    return replace(found, remedy=shown)


def explain(match: Match, project: Project) -> str:
    """Explain which checkpoint it is, and what in it does not learn."""
    text = (
        f"Checkpointing is reentrant at {line(match.location, project)}: it gives its output a "
        "graph only if one of its inputs requires a gradient, and none does."
    )
    if isinstance(match.evidence, SilentFault) and match.evidence.params:
        text += f" No gradient comes to {some(match.evidence.params)}."
    return f"{text} To fix it, {_REMEDY}"
