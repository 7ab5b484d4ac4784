"""An assistant's answer, made the files that it changes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.http.problems import ProblemError
from app.request.patches import applied

_FENCED = re.compile(r"^(`{3,})[ \t]*(\w*)[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_DIFF = re.compile(r"^(?:--- |@@ |diff --git )", re.MULTILINE)


class ReplyError(ValueError):
    """The answer contains no repair; the message is sent to the assistant."""


def changes_in(reply: str, files: Mapping[str, str], entry: str) -> dict[str, str]:
    """Return the files that an answer changes, by name. Raises `ReplyError`."""
    blocks = [(found[2].lower(), found[3]) for found in _FENCED.finditer(reply)]
    if not blocks and _DIFF.search(reply):
        blocks = [("diff", reply[_DIFF.search(reply).start() :])]  # type: ignore[union-attr]
    if not blocks:
        raise ReplyError("it holds no fenced block.")
    kind, text = next((one for one in blocks if _is_diff(*one)), blocks[0])
    changed = _patched(text, files, entry) if _is_diff(kind, text) else {entry: text}
    changed = {name: new for name, new in changed.items() if files.get(name) != new}
    if not changed:
        raise ReplyError("it changes nothing.")
    for name, new in changed.items():
        _expect_python(name, new)
    return changed


def _is_diff(kind: str, text: str) -> bool:
    return kind in ("diff", "patch") or bool(_DIFF.match(text))


def _patched(patch: str, files: Mapping[str, str], entry: str) -> dict[str, str]:
    if not patch.startswith(("--- ", "diff ")) and "\n--- " not in patch:
        patch = f"--- a/{entry}\n+++ b/{entry}\n{patch}"
    try:
        changed = applied(files, patch)
    except ProblemError as problem:
        raise ReplyError(problem.detail) from None
    kept = {name: text for name, text in changed.items() if text is not None}
    if len(kept) < len(changed) or set(kept) - set(files):
        raise ReplyError("it adds or removes files; change the ones that there are.")
    return kept


def _expect_python(name: str, text: str) -> None:
    if name.endswith(".py"):
        try:
            compile(text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise ReplyError(f"{name} is no Python then ({error}).") from None
        except (RecursionError, MemoryError):
            raise ReplyError(f"{name} nests too deeply.") from None
