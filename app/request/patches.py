"""A unified diff, applied to the files that were sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from app.http.problems import ProblemError, refused

_HEAD = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$")
_SHOWN = 80  # characters of a line that an error quotes


def applied(files: Mapping[str, str], patch: str) -> dict[str, str | None]:
    """Return the text of each file that a patch changes, None for one that it removes.

    Hunks are placed where their lines are, nearest to where they say; wrong counts in their heads
    are counted again. Raises `ProblemError` that names the hunk which does not apply.
    """
    changed: dict[str, str | None] = {}
    found = _parsed(patch)
    if not found:
        raise refused("patch", "holds no change; send a unified diff, as `git diff` prints it")
    for part in found:
        source = None if part.is_added_file else _known(part, files)
        if source is not None and (part.is_removed_file or part.is_rename):
            changed[source] = None
        if not part.is_removed_file:
            name = part.path if source is None or part.is_rename else source
            changed[name] = _text(part, files[source] if source is not None else "", name)
    return changed


def _parsed(patch: str) -> PatchSet:
    text = patch.replace("\r\n", "\n")
    text = text if text.endswith("\n") else f"{text}\n"
    try:
        return PatchSet(text)
    except UnidiffParseError:
        pass
    try:
        return PatchSet("\n".join(_counted(text.split("\n"))))
    except UnidiffParseError as error:
        why = f"is no unified diff ({str(error).strip().rstrip('.')}); send what `git diff` prints"
        raise refused("patch", why) from None


def _counted(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a diff whose hunks announce as many lines as they have."""
    for n, line in enumerate(lines):
        head = _HEAD.match(line)
        if head is None:
            yield line
            continue
        body = list(_body(lines[n + 1 :]))
        old = sum(one[:1] != "+" for one in body)
        new = sum(one[:1] != "-" for one in body)
        yield f"@@ -{head[1]},{old} +{head[2]},{new} @@{head[3]}"


def _body(lines: list[str]) -> Iterator[str]:
    """Yield the lines of one hunk: up to the next head, file or end."""
    for n, line in enumerate(lines):
        following = lines[n + 1][:4] if n + 1 < len(lines) else ""
        if line[:3] == "@@ " or line[:5] == "diff " or (line[:4], following) == ("--- ", "+++ "):
            return
        if line[:1] in (" ", "+", "-"):
            yield line


def _known(part: PatchedFile, files: Mapping[str, str]) -> str:
    """Return the sent file that a part of a patch names: by its path, or by the end of it."""
    path = part.source_file.removeprefix("a/") if part.is_rename else part.path
    if path in files:
        return path
    ends = [name for name in files if f"/{name}".endswith(f"/{path}")]
    ends = ends or [name for name in files if f"/{path}".endswith(f"/{name}")]
    if len(ends) == 1:
        return ends[0]
    there = ", ".join(sorted(files)[:8])
    raise refused("patch", f"changes {path[:_SHOWN]!r}, which was not sent; there is {there}")


def _text(part: PatchedFile, text: str, name: str) -> str:
    """Return a file's text with all hunks applied; its line ends stay as they are."""
    ending = "\r" if "\r\n" in text else ""
    lines = [line.removesuffix("\r") for line in text.split("\n")] if text else [""]
    result: list[str] = []
    done = 0
    for number, hunk in enumerate(part, 1):
        old = [_line(line.value) for line in hunk if not line.is_added]
        at = _place(old, lines, done, hunk.source_start - 1 if old else hunk.source_start)
        if at is None:
            raise _misfit(hunk, number, name, old, lines)
        result += lines[done:at]
        result += [_line(line.value) for line in hunk if not line.is_removed]
        done = at + len(old)
    return f"{ending}\n".join([*result, *lines[done:]])


def _line(value: str) -> str:
    return value.rstrip("\n").removesuffix("\r")


def _place(old: list[str], lines: list[str], first: int, wanted: int) -> int | None:
    """Return where these lines are, after `first` and nearest to where they are expected, or
    None."""
    last = len(lines) - len(old)
    places = sorted(range(first, last + 1), key=lambda at: abs(at - wanted))
    return next((at for at in places if lines[at : at + len(old)] == old), None)


def _misfit(hunk: Hunk, number: int, name: str, old: list[str], lines: list[str]) -> ProblemError:
    """Return a problem that names the hunk that does not apply, and its first missing line."""
    at = max(hunk.source_start - 1, 0)
    pairs = zip(old, [*lines[at : at + len(old)], *[""] * len(old)], strict=False)
    n, (wanted, there) = next(
        ((n, pair) for n, pair in enumerate(pairs) if pair[0] != pair[1]), (0, ("", ""))
    )
    why = (
        f"does not apply: hunk {number} of {name} (@@ -{hunk.source_start} @@) expects line "
        f"{at + n + 1} to be {wanted[:_SHOWN]!r}, and it is {there[:_SHOWN]!r}"
    )
    return refused("patch", why)
