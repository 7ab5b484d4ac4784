"""Match the lines that two versions of a text share, in time linear in their length.

`difflib` alone takes quadratic time over equal lines, and a hostile sender chooses the lines. Here
the common head and tail are cut off first, which leaves little of what a patch changed. What is
left and still long is matched by Myers' greedy algorithm up to a bound, beyond which it counts as
replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

CONTEXT = 3
_SHORT = 40_000  # pairs of lines that `difflib`, whose choices read best, may compare
_MOST_EDITS = 200
_LOOKS_PER_LINE = 24

Opcode = tuple[str, int, int, int, int]


class LineMatcher(SequenceMatcher[str]):
    """The opcodes of `difflib` for blocks that are already known."""

    def __init__(self, blocks: Sequence[Match]) -> None:
        super().__init__(None, "", "")
        self._blocks = list(blocks)

    def get_matching_blocks(self) -> list[Match]:
        return self._blocks


def matching_blocks(before: Sequence[str], after: Sequence[str]) -> list[Match]:
    """Return the equal runs of lines in order, and an empty one after the last line, as `difflib`
    does.
    """
    head, tail = _common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    short = len(old) * len(new) <= _SHORT
    inner = (
        SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        if short
        else (_greedy(old, new))
    )
    blocks: list[Match] = []
    append_block(blocks, Match(0, 0, head))
    for a, b, size in inner:
        append_block(blocks, Match(head + a, head + b, size))
    append_block(blocks, Match(len(before) - tail, len(after) - tail, tail))
    return [*blocks, Match(len(before), len(after), 0)]


def append_block(blocks: list[Match], block: Match) -> None:
    """Append a block, merged with the last one if they are adjacent."""
    if not block.size:
        return
    if blocks:
        a, b, size = blocks[-1]
        if (a + size, b + size) == (block.a, block.b):
            blocks[-1] = Match(a, b, size + block.size)
            return
    blocks.append(block)


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Return how to turn one version into the other, as `difflib` does."""
    found: list[Opcode] = list(LineMatcher(matching_blocks(before, after)).get_opcodes())
    return found


def changed_lines(before: str, after: str) -> int:
    """Return how many lines differ; for a replaced run the longer side counts."""
    found = opcodes(before.splitlines(), after.splitlines())
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in found if tag != "equal")


def original_line(before: Sequence[str], after: Sequence[str], line: int) -> int | None:
    """Return the number that a line of `after` has in `before`, from 1; None if it is new there."""
    blocks = matching_blocks(before, after)
    return next((line - b + a for a, b, size in blocks if b < line <= b + size), None)


def unified(path: str, before: Sequence[str], after: Sequence[str], blocks: Sequence[Match]) -> str:
    """Return a unified diff that `git apply` accepts, of lines with their endings; empty if nothing
    changed.
    """
    groups = LineMatcher(blocks).get_grouped_opcodes(CONTEXT)
    lines = [line for group in groups for line in _hunk(group, before, after)]
    if not lines:
        return ""
    ended = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]
    return "".join([f"--- a/{path}\n", f"+++ b/{path}\n", *ended])


def _hunk(group: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    (_, left, _, right, _), (_, _, left_end, _, right_end) = group[0], group[-1]
    yield f"@@ -{_range(left, left_end)} +{_range(right, right_end)} @@\n"
    for tag, a, a_end, b, b_end in group:
        if tag == "equal":
            yield from (f" {line}" for line in old[a:a_end])
        else:
            yield from (f"-{line}" for line in old[a:a_end])
            yield from (f"+{line}" for line in new[b:b_end])


def _range(start: int, end: int) -> str:
    """Return a hunk's lines as `start,length`; an empty range names the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many lines at the head, and after those at the tail, are the same."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return head, tail


def _greedy(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the longest common subsequence if few edits lead to it; else nothing.

    `reached[k]` is the furthest line of `old` that so many edits reach on diagonal k, on which a
    line of `old` is k below its partner in `new`.
    """
    reached, trail = {1: 0}, []
    looks = _LOOKS_PER_LINE * (len(old) + len(new))
    for edits in range(_MOST_EDITS + 1):
        trail.append(dict(reached))
        for k in range(-edits, edits + 1, 2):
            start = _step(reached, k, edits)
            x = start
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reached[k] = x
            looks -= x - start + 1
            if x >= len(old) and x - k >= len(new):
                return _retraced(trail, x, k)
        if looks < 0:
            return []
    return []


def _step(reached: dict[int, int], k: int, edits: int) -> int:
    """Return where one more edit enters diagonal k: by a line of `new`, or by one of `old`."""
    return reached[k + 1] if _by_new(reached, k, edits) else reached[k - 1] + 1


def _retraced(trail: list[dict[int, int]], x: int, k: int) -> list[Match]:
    """Return the equal runs on the path that led to line x on diagonal k."""
    blocks: list[Match] = []
    for edits in range(len(trail) - 1, -1, -1):
        reached = trail[edits]
        start = _step(reached, k, edits)
        if x > start:
            blocks.append(Match(start, start - k, x - start))
        k += 1 if _by_new(reached, k, edits) else -1
        x = reached.get(k, 0)
    return blocks[::-1]


def _by_new(reached: dict[int, int], k: int, edits: int) -> bool:
    return k == -edits or (k != edits and reached[k - 1] < reached[k + 1])
