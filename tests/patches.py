"""Fixes as a diagnosis lists them, for tests of what is said of them."""

from __future__ import annotations

from typing import Any

from app.schemas import Patch


def patch_of(**known: Any) -> Patch:
    """Return a fix with these fields; of the others, only their types matter."""
    return Patch(n=1, strategy="s", title="Do it", diff="", script="", snippet="", **known)
