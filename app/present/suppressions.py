"""Findings that the author of a script does not want to hear of: `# gradmend: ignore[GM011]`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from app.schemas import Cause

_COMMENT = re.compile(r"#\s*gradmend:\s*ignore(?:\[(?P<which>[^\]]*)\])?", re.IGNORECASE)


def is_ignored(cause: Cause, ignore: Collection[str]) -> bool:
    """Return True if a pattern is among those that are not reported, by id or by name."""
    return not {cause.id, cause.pattern}.isdisjoint(ignore)


def is_marked(cause: Cause, sources: Mapping[str, str]) -> bool:
    """Return True if the line of a cause has the comment, for this pattern or for all."""
    lines = sources.get(cause.location.file, "").splitlines()
    last = max(cause.location.line, cause.location.end_line or 0)
    for line in lines[max(cause.location.line - 1, 0) : last]:
        found = _COMMENT.search(line)
        if found is not None:
            named = found["which"]
            which = {word.strip() for word in named.split(",")} if named is not None else None
            return which is None or is_ignored(cause, which)
    return False
