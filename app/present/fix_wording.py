"""What people read of a fix: its effect, its level and its checks, in one vocabulary for page,
terminal and shared text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

from app.schema_types import TARGETS_HELD
from app.schemas import Check, Effect, Patch

SHORT = 140
"""Characters of a reason that is shown with a fix; the whole is among its figures."""


@dataclass(frozen=True, slots=True)
class _EffectWords:
    """What is said of a passed fix by its effect: as a caveat, at length, in a tab, and as the
    predicate of "this fix"."""

    training: str
    effect: str
    tab: str
    clause: str


EffectKind = Literal[
    "same", "truncated", "changed", "unknown", "target", "derivative", "other", "intended"
]
"""The effect on the gradients, except: `target`: equal but for targets that are held constant;
`derivative`: not comparable, but those of numerical derivatives, and `other`: not those;
`intended`: changed where the original's are the fault."""

EFFECTS: dict[EffectKind, _EffectWords] = {
    "same": _EffectWords(
        "", "same gradients", "✓ same gradients", "keeps the gradients of the fault"
    ),
    "truncated": _EffectWords(
        "truncates the gradients",
        "truncated: each backward learns on its own",
        "✓ truncated",
        "truncates the gradients",
    ),
    "changed": _EffectWords(
        "changes the training",
        "changes the training: the gradients differ",
        "≠ changes training",
        "changes the training",
    ),
    "unknown": _EffectWords(
        "effect on the training not compared",
        "gradients not compared",
        "✓ effect unknown",
        "has not been compared with the original's training",
    ),
    "target": _EffectWords(
        "its target is held constant",
        "its target is a constant",
        "✓ target constant",
        "holds a target constant",
    ),
    "derivative": _EffectWords(
        "passes gradcheck",
        "backward is the numerical derivative of forward (gradcheck)",
        "✓ gradcheck",
        "passes gradcheck",
    ),
    "other": _EffectWords(
        "differs in gradcheck",
        "backward is not the numerical derivative of forward (gradcheck)",
        "≠ gradcheck",
        "differs in gradcheck",
    ),
    "intended": _EffectWords(
        "changes the gradients, as intended",
        "changes the gradients, as intended",
        "≠ as intended",
        "changes the gradients, as intended",
    ),
}
LEVELS = {
    "safe": "safe",
    "unsafe": "unsafe: read it first",
    "display_only": "not for use as it is",
}
"""What a fix's level is called where people read it."""
CHECKS = {
    "reproduced": "Your error was reproduced",
    "runs": "The fixed script runs",
    "learns": "Every parameter still learns",
    "same_gradient": "The gradients match the original's",
    "schedule": "Backward calls and steps are those of the original",
    "covered": "Every loss is still trained on",
    "fresh": "Every backward uses the current weights",
    "bounded": "Memory does not grow across iterations",
    "minimal": "The change is small",
    "gradcheck": "The Function's gradients are the numerical ones",
    "no_other_fault": "No other fault shows with it",
}
CHIPS = {
    "reproduced": "error reproduced",
    "runs": "error gone",
    "learns": "all parameters learn",
    "same_gradient": "gradients match",
    "schedule": "same steps",
    "covered": "every loss trained",
    "fresh": "current weights",
    "bounded": "no growth",
    "minimal": "small change",
    "gradcheck": "gradcheck passed",
    "no_other_fault": "no other fault",
}
FAILED = {
    "reproduced": "your error did not come up",
    "runs": "it still fails",
    "learns": "other parameters learn",
    "same_gradient": "gradients differ",
    "schedule": "other steps",
    "covered": "a loss is left out",
    "fresh": "old weights are used",
    "bounded": "memory grows",
    "minimal": "a large change",
    "gradcheck": "gradcheck differs",
    "no_other_fault": "another fault shows",
}
"""What a check says that was failed, in place of its chip."""
STATES = {
    "passed": "passed",
    "failed": "failed",
    "differs": "differs",
    "not_run": "not tested",
}


def training(patch: Patch) -> str:
    """Return what a passed fix changes in the training, or how else it is known; '' if nothing."""
    return EFFECTS[_kind(patch)].training


def _kind(patch: Patch) -> EffectKind:
    """Return by which words the effect of a passed fix is described."""
    effect = patch.effect
    if effect is not None and TARGETS_HELD in effect.text:
        return "target"
    if patch.gradients == "unknown" and patch.level == "safe":
        return "derivative"
    compared = next((c.status for c in patch.verification.checks if c.name == "gradcheck"), None)
    if patch.gradients == "unknown" and compared == "differs":
        return "other"
    if patch.gradients == "changed" and effect is not None and effect.intended:
        return "intended"
    return patch.gradients


def fix_line(patches: Sequence[Patch]) -> str:
    """Return what to do to the source, in a sentence, if the first patch has passed; else ''."""
    best = patches[0] if patches else None
    if best is None or best.verification.status != "passed" or not best.edit:
        return ""
    return f"Fix{_unsafe(best)}: {best.edit}."


def _unsafe(patch: Patch) -> str:
    """Return what the headline says of a passed fix that is not safe."""
    return "" if patch.level == "safe" else f", which {clause(patch)}"


def clause(patch: Patch) -> str:
    """Return the effect of a passed fix as a predicate: `truncates the gradients`."""
    kind, reason = _kind(patch), patch.level_reason
    if not reason:
        return EFFECTS[kind].clause
    return f"is unsafe ({reason})" if kind == "same" else f"{EFFECTS[kind].clause} ({reason})"


def proof(patch: Patch) -> str:
    """Return the text of a fix's badge."""
    words = {"passed": "tested", "failed": "failed a check", "not_run": "not tested"}
    return words[patch.verification.status]


def level_and_proof(patch: Patch) -> str:
    """Return a fix's level, as far as there is one to apply, and whether it was tested."""
    said = "" if patch.level == "display_only" else f"{level(patch)}; "
    return f"{said}{proof(patch)}"


def level(patch: Patch) -> str:
    """Return what a fix's level is called, with the reason where its effect does not say it."""
    return f"{patch.level}: {patch.level_reason}" if patch.level_reason else LEVELS[patch.level]


def effect(patch: Patch) -> str:
    """Return what a fix does to the training, in a few words; for a failed one, why it failed."""
    if patch.verification.status == "failed":
        failed = [c for c in patch.verification.checks if c.status == "failed"]
        notes = [
            f"{FAILED[c.name]}: {c.detail}" if c.detail else FAILED[c.name] for c in failed[:1]
        ]
        return shorten("".join(notes), SHORT, placeholder=" …")
    kind = _kind(patch)
    why = f": {patch.effect.intended}" if kind == "intended" and patch.effect is not None else ""
    return EFFECTS[kind].effect + why


def tab(patch: Patch) -> str:
    """Return a fix's mark and its effect, in two words."""
    if patch.verification.status == "failed":
        return "✗ failed"
    if patch.verification.status == "not_run":
        return "not tested"
    return EFFECTS[_kind(patch)].tab


def asked(patch: Patch) -> list[Check]:
    """Return the checks that apply to this fix.

    If no error was raised, there was none to reproduce; with equal gradients no loss is left out.
    """
    idle = {"reproduced", "covered"} if patch.gradients == "same" else {"reproduced"}
    return [c for c in patch.verification.checks if c.status != "not_run" or c.name not in idle]


def figures(check: Check, title: str = "") -> str:
    """Return a check's detail; '' if it says no more than its title (that of a fix, or `title`)."""
    said = title or CHECKS[check.name]
    return "" if check.detail.lower() == said.lower() else check.detail


def chip(check: Check, patch: Patch) -> str:
    """Return a check of a patch in a few words, by how it ended."""
    effect = patch.effect
    if check.status in ("failed", "differs"):
        if check.name != "same_gradient" or effect is None:
            return FAILED[check.name]
        intended = _kind(patch) == "intended"
        return FAILED[check.name] + (", as intended" if intended else f" ({_equal(effect)})")
    if check.name == "same_gradient" and check.status == "passed" and effect is not None:
        cut = effect.against == "truncated" and TARGETS_HELD not in effect.text
        return CHIPS[check.name] + (" (up to the cut)" if cut else "")
    if check.name == "runs" and check.status == "passed" and not _had_error(patch):
        return "no error"
    return CHIPS[check.name]


def _had_error(patch: Patch) -> bool:
    """Return True unless the original ran without an error: then there was none to reproduce."""
    states = {check.name: check.status for check in patch.verification.checks}
    return states.get("reproduced") != "not_run"


def _equal(effect: Effect) -> str:
    return f"{effect.steps_equal} of {effect.steps_compared} steps equal"


def unchecked_fix(patch: Patch) -> list[str]:
    """Return what was not tested of a fix."""
    return [
        f"whether {CHECKS[check.name][0].lower()}{CHECKS[check.name][1:]}"
        for check in asked(patch)
        if check.status == "not_run"
    ]
