"""A text as it was sent beside the Python that was made of it, line for line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_NUMBER = re.compile(r"(?:-{1,12}>[ \t]?)?(?<![\[\w])\d{1,6}(?![\]\w])[:|)]?")


@dataclass(frozen=True, slots=True)
class Pasted:
    """`text` has as many lines as `sent`; where nothing had to be done, they are the same."""

    text: str
    sent: str

    @property
    def first_changed(self) -> tuple[int, str] | None:
        """The first line that was not Python as it stood: its number from 1, and its text."""
        lines = zip(self.text.splitlines(), self.sent.splitlines(), strict=False)
        for number, (read, sent) in enumerate(lines, 1):
            if read.strip() != sent.strip():
                return number, sent.strip()
        return None

    def back(self, patched: str) -> str:
        """A patched form of `text`, told in what was sent: lines that the patch leaves alone are
        as they were pasted, and new ones stand as far right, behind the same prompt, as those
        around them."""
        if self.text == self.sent:
            return patched
        read, sent = self.text.splitlines(keepends=True), self.sent.splitlines(keepends=True)
        new = patched.splitlines(keepends=True)
        if len(read) != len(sent):  # a line end that only one of the two has
            return patched
        before, after = _equal_ends(read, new)
        out = sent[:before]
        old, fresh = read[before : len(read) - after], new[before : len(new) - after]
        matcher = SequenceMatcher(None, old, fresh, autojunk=False)
        for tag, a, a_end, b, b_end in matcher.get_opcodes():
            if tag == "equal":
                out += sent[before + a : before + a_end]
            else:
                places = range(before + a, before + a_end)
                margin = _margin(read, sent, [*places, before + a - 1, before + a_end])
                out += [f"{margin}{line}" if line.strip() else line for line in fresh[b:b_end]]
        return "".join(out + sent[len(sent) - after :])


UNCHANGED = Pasted("", "")


def _equal_ends(one: list[str], two: list[str]) -> tuple[int, int]:
    """How many lines both begin with, and how many of the others both end with."""
    least = min(len(one), len(two))
    before = next((i for i in range(least) if one[i] != two[i]), least)
    rest = least - before
    return before, next((i for i in range(rest) if one[-1 - i] != two[-1 - i]), rest)


def _margin(read: list[str], sent: list[str], places: list[int]) -> str:
    """What stands left of the code in the pasted text, at the first of these places that tells."""
    for place in places:
        line = read[place].rstrip() if 0 <= place < len(read) else ""
        if line:
            at = sent[place].find(line)
            return _plain(sent[place][:at]) if at >= 0 else ""
    return ""


def _plain(margin: str) -> str:
    """A margin for a new line, which has no number of its own."""
    return _NUMBER.sub(lambda found: " " * len(found[0]), margin)
