"""Tell parameters that no optimizer holds on purpose."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.source import priors
from analyzers.source.callees import operation
from analyzers.source.project import Module, Project, spelled

UNHELD = "unheld-parameters"


def reason_to_stay(names: Sequence[str], kind: str, project: Project) -> str:
    """Return why parameters without an optimizer are meant to stay as they are, as a clause; '' if
    nothing shows it.

    Their names say so, the script itself asks for their gradient, or weights that were trained
    before are loaded.
    """
    if any(map(priors.is_left_out, names)):
        return "their name says that they stay as they are"
    asked = {spelled(node.value) for _, node in project.each(ast.Attribute) if node.attr == "grad"}
    if not asked.isdisjoint(names):
        return "the script reads these gradients itself"
    if kind == UNHELD and any(map(_loads, project.each(ast.Call))):
        return "the script loads weights that were trained before"
    return ""


def _loads(found: tuple[Module, ast.Call]) -> bool:
    """Return True if a call loads weights that were trained before into a module."""
    _, call = found
    name = operation(call)
    if name in ("from_pretrained", "load_state_dict", "load_from_checkpoint"):
        return True
    return any(
        keyword.arg in ("pretrained", "weights")
        and getattr(keyword.value, "value", True) not in (None, False)
        for keyword in call.keywords
    )
