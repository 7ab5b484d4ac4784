"""Map names in evidence to those that static analysis knows.

A run knows a value by every name that held it, including temporaries that only pass it on (`made =
f(x)`, `y = made`). Static analysis removes those names (`analyzers.source.temporaries`), so
evidence is mapped to the name to which the value was passed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from analyzers.evidence import Evidence
from analyzers.source.project import Project
from provenance import Binding, Referrer

_ROOT = re.compile(r"([A-Za-z_]\w*)((?:\[\d+\])*)")  # a name with item indices


def in_read_names(project: Project, evidence: Evidence) -> Evidence:
    """Return the evidence without names that only pass a value on."""
    names = {old: new for module in project.modules.values() for old, new in module.handed_on}
    if not names:
        return evidence
    result: Evidence = _renamed(evidence, names)
    return result


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Referrer):
        return replace(value, path=_path(value.path, names))
    if isinstance(value, Binding):
        paths = tuple(_path(path, names) for path in value.paths)
        return replace(value, name=_path(value.name, names), paths=paths)
    if isinstance(value, tuple):
        return tuple(_renamed(part, names) for part in value if not _again(part, value, names))
    if is_dataclass(value) and not isinstance(value, type):
        new = {f.name: _renamed(getattr(value, f.name), names) for f in fields(value)}
        return replace(value, **new)
    return value


def _path(path: str, names: Mapping[str, str]) -> str:
    whole = _ROOT.match(path)
    for known in (whole[0], whole[1]) if whole is not None else ():
        if known in names:
            return names[known] + path.removeprefix(known)
    return path


def _again(part: Any, others: tuple[Any, ...], names: Mapping[str, str]) -> bool:
    """Return True if the same tuple has the evidence for the name to which the value was passed."""
    if isinstance(part, Referrer):
        path = _path(part.path, names)
        return path != part.path and any(
            isinstance(other, Referrer) and other.path == path for other in others
        )
    if not isinstance(part, Binding) or _path(part.name, names) == part.name:
        return False
    paths = {_path(path, names) for path in part.paths}
    return any(
        isinstance(other, Binding)
        and (other.how, other.at.file, other.at.frame) == (part.how, part.at.file, part.at.frame)
        and 0 <= other.at.line - part.at.line <= 1
        and paths <= set(other.paths)
        for other in others
    )
