"""Map a text as it was sent to the Python that was made of it, line for line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.paste.diffs import ADDED
from analyzers.paste.quoted import BETWEEN
from analyzers.source.linediff import opcodes

_NUMBER = re.compile(r"(?:-{1,12}>[ \t]?)?(?<![\[\w])\d{1,6}(?![\]\w])[:|)]?")
_TITLE = re.compile(r"\s*#{1,6}[ \t]+(?P<title>\S.{0,300}?)(?:\r?\n[ \t]*\r?\n|\s*\Z)")
LOST_BODY = ": pass"  # what a header gets below which nothing stands


@dataclass(frozen=True, slots=True)
class Pasted:
    """`text` has as many lines as `sent`; where nothing had to be done, they are the same.
    `restored`: the code was sent without its indentation, and has it again."""

    text: str
    sent: str
    restored: bool = False

    @property
    def first_changed(self) -> tuple[int, str] | None:
        """The first line that was not Python as it stood, between lines that are: its number from
        1, and its text. Words around the code are none."""
        read = self.text.splitlines()
        for number, (line, sent) in enumerate(zip(read, self.sent.splitlines(), strict=False), 1):
            around = [*read[max(number - 2, 0) : number - 1], *read[number : number + 1]]
            if not sent.strip() or sent.lstrip().startswith("#") or _quotes(sent, line):
                continue
            if not line.strip() and ADDED.match(sent):
                continue
            if line.strip() != sent.strip() and (line.strip() or all(map(str.strip, around))):
                return number, sent.strip()
        return None

    @property
    def first_without_body(self) -> tuple[int, str] | None:
        """The first header below which nothing stood, though something must: its number from 1,
        and its text."""
        lines = zip(self.text.splitlines(), self.sent.splitlines(), strict=False)
        for number, (read, sent) in enumerate(lines, 1):
            if read.endswith(LOST_BODY) and not sent.rstrip().endswith(LOST_BODY.strip()):
                return number, read.removesuffix(LOST_BODY).strip()
        return None

    @property
    def around(self) -> str:
        """Return the lines of the paste that are no code; of Python as it was sent, its title."""
        if self.text == self.sent:
            return title_of(self.sent)
        lines = zip(self.text.splitlines(), self.sent.splitlines(), strict=False)
        return "\n".join(sent for read, sent in lines if not read.strip())

    @property
    def quoted(self) -> list[str]:
        """The statements that the paste's words quote, and that stand where it has no code."""
        lines = zip(self.text.splitlines(), self.sent.splitlines(), strict=False)
        return [
            quoted
            for read, sent in lines
            if _quotes(sent, read) or (not sent.strip() and _quotes(self.sent, read))
            for quoted in _statements(read)
        ]

    def back(self, patched: str) -> str:
        """Return a patched form of `text` in terms of what was sent.

        Lines that the patch leaves alone are as they were pasted, but with an indentation that they
        had lost; new ones are indented, after the same prompt, like those around them. Prose that
        quotes a statement stays, and quotes it as it is in the patch.
        """
        if self.text == self.sent:
            return patched
        read, sent = self.text.splitlines(keepends=True), self.sent.splitlines(keepends=True)
        new = patched.splitlines(keepends=True)
        if len(read) != len(sent):  # a line end that only one of the two has
            return patched
        if self.restored:
            pairs = zip(read, sent, strict=True)
            sent = [line if line.strip() == row.strip() else row for line, row in pairs]
        out: list[str] = []
        for tag, a, a_end, b, b_end in opcodes(read, new):
            if tag == "equal":
                out += sent[a:a_end]
                continue
            words = [row for row in range(a, a_end) if _quotes(sent[row], read[row])]
            margin = _margin(read, sent, [*range(a, a_end), a - 1, a_end])
            if a_end - a == 1 == b_end - b and words:
                out.append(_requoted(sent[a], read[a], new[b]))
                continue
            out += [sent[row] for row in words]
            out += [f"{margin}{line}" if line.strip() else line for line in new[b:b_end]]
        return "".join(out)


def _statements(line: str) -> list[str]:
    return [one for one in line.strip().split(BETWEEN) if one]


def _quotes(words: str, line: str) -> bool:
    """Whether the words quote all statements of the line."""
    found = _statements(line)
    only = words.strip() == f"`{line.strip()}`"  # a line of code, and no words around it
    return bool(found) and not only and all(f"`{one}`" in words for one in found)


def _requoted(words: str, read: str, patched: str) -> str:
    """The words with the statements that they quote as the patch has them: those that it moves
    away stay in the words, and what it adds has a line of its own behind them."""
    before, after = _statements(read), _statements(patched)
    added = [one for one in after if one not in before]
    if len(before) != len(after):
        end = patched[len(patched.rstrip("\r\n")) :]
        return words + BETWEEN.join(added) + end * bool(added)
    for old, new in zip(before, after, strict=True):
        words = words.replace(f"`{old}`", f"`{new}`")
    return words


def title_of(text: str) -> str:
    """Return the title of a thread whose code is all that follows: a first line in Markdown
    (`# …`) above an empty one, or alone; "" if there is none."""
    title = _TITLE.match(text)
    return title["title"].strip() if title is not None else ""


UNCHANGED = Pasted("", "")


def _margin(read: list[str], sent: list[str], places: list[int]) -> str:
    """Return what is left of the code in the pasted text, at the first of these places that shows
    it."""
    for place in places:
        line = read[place].rstrip() if 0 <= place < len(read) else ""
        if line and not _quotes(sent[place], line):
            at = sent[place].find(line)
            return _plain(sent[place][:at]) if at >= 0 else ""
    return ""


def _plain(margin: str) -> str:
    """A margin for a new line, which has no number of its own."""
    return _NUMBER.sub(lambda found: " " * len(found[0]), margin)
