"""The pattern catalogue, read from the docstrings of the pattern modules."""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import cache

from pydantic import BaseModel

from analyzers.pattern import Pattern, patterns

_BLOCK = re.compile(r"^(Broken|Mended)::\n((?:\n|[ \t]+.*(?:\n|$))+)", re.MULTILINE)


class CatalogueEntry(BaseModel):
    """A pattern as the catalogue shows it; `text` is Markdown, the examples are Python."""

    pattern: str
    family: str
    title: str
    text: str
    broken: str
    mended: str
    url: str


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Every pattern by its public name, in the order of the names."""
    return {name: _entry(pattern) for name, pattern in sorted(patterns().items())}


def _entry(pattern: Pattern) -> CatalogueEntry:
    page = inspect.cleandoc(pattern.__doc__ or pattern.TITLE)
    examples = {kind: textwrap.dedent(code).strip("\n") for kind, code in _BLOCK.findall(page)}
    return CatalogueEntry(
        pattern=pattern.NAME,
        family=pattern.FAMILY,
        title=pattern.TITLE,
        text=_BLOCK.sub("", page).strip(),
        broken=examples.get("Broken", ""),
        mended=examples.get("Mended", ""),
        url=f"/patterns/{pattern.NAME}",
    )
