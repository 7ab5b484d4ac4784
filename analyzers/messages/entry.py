"""One entry of the catalogue of messages: what a message says, and what is behind it.

The entries are the tables `[[message]]` of the TOML files next to this one:

`id`           of the entry, in the address of its page
`family`       of the error, as in the contract
`kind`         which sort of its family; the pattern that declares it as its `KIND` explains it
`texts`        of the message, lower case; `…` is whatever stands between two parts
`exception`    what raises it; RuntimeError where nothing is said
`torch`        the versions that raise it
`means`        one or two sentences
`title`        what a cause of this message is called, where its pattern's own would not be true
`names_cause`  whether the message alone says what kind of fault it is
`wrong`        remedies that are often given, and are wrong
`same_causes`  the id of an entry that has the same causes
`named`        like `asks`, for words that name a message without its text
`of_module`    whether it is about a module's parameters, which the call that raises it cannot name
`raised_at`    what the line that raises it has to hold, where others raise the same message
`let_pass`     what the sandbox reports where it let this pass, as older versions did
`asks`         of a question, which nothing raises: the topics that it holds (`topics.py`); one of
               several such lists is enough
`touches`      topics of a question of which one may be enough to make it the nearest
`general`      whether it only says that nothing is learned, which an error or a run says better
`subjects`     of a question: like `asks`, for topics that stand anywhere in the words; where no
               line asks
`patterns`     names of the patterns that it comes of, the most usual first; of an entry with a
               kind, the one that explains this kind
`near`         words of what autograd does not raise, where this entry may help all the same
`threads`      public discussions of the message, as `owner/repository#number` on GitHub

`[[message.cause]]`, the most usual first; those that name no line at the end:

`id`           by which other entries share the cause
`same`         the id of such a cause; other fields stand for those of its own
`because`      the cause; `{name}` is what was found in the source
`do`           its remedy
`look`         what is evidence of it: in the source (`analyzers/advice/looking.py`), in the
               traceback, in settings, and in the words around the code, as lists of topics like
               `asks`: `said` where they name the cause itself, `about` where they make it likelier.
               None: the usual cause. `unless` and `when` are conditions: settings that exclude it,
               what the message must have; `quoted`: statements that the words quote are looked at,
               too, and the line that a trace of the forward ends with. `when` and `message` are
               regular expressions; a group of `message` is the name
               `result`: the operation whose result the message names, and lines that write to it;
               `within`: functions that the own frames of the traceback stand in
`blames`       whether such a line can be the fault itself
`note`         `version` for what only a version changes
`kind`         the kind of fault that this cause is, where it is another than the message's
`sure`         whether a line that the look finds is this fault, whatever the words ask
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analyzers.evidence import Family

GAP = "…"
_BRACKETED = re.compile(r" \([`“]{0,2}\{name\}[`”]{0,2}\)|( \()[`“]{0,2}\{name\}[`”]{0,2}: ")
FORMS = frozenset(
    {
        "calls", "keyword", "storing", "attribute", "requires_grad", "mentions", "named", "frames",
        "compiled", "of_values", "setting", "unless", "shapes", "said", "message", "forward",
        "warned", "when", "reaching", "quoted", "about", "result", "within", "defines",
    }
)  # fmt: skip
_CAUSE = {"id", "same", "because", "do", "look", "blames", "note", "kind", "sure"}
_MESSAGE = {
    "id", "family", "kind", "texts", "exception", "torch", "means", "title", "names_cause", "wrong",
    "same_causes", "cause", "asks", "let_pass", "named", "raised_at", "threads", "patterns", "near",
    "general", "touches", "subjects", "of_module",
}  # fmt: skip


class CatalogueError(ValueError):
    """An entry is not as it should be; the message says which, and what is wrong."""


@dataclass(frozen=True, slots=True)
class UsualCause:
    """A cause with its remedy. `look`: as in the file; None for one that names no line."""

    because: str
    do: str
    look: Mapping[str, Any] | None = None
    blames: bool = True
    note: Literal["lines", "version"] = "lines"
    kind: str | None = None
    sure: bool = False

    def say(self, name: str = "") -> str:
        """The cause and its remedy in one sentence, about what was found."""
        return f"{self.because}: {self.do}".replace("{name}", name)

    def in_general(self) -> str:
        """The same about no script: what it would find there is called `this`, or left out where it
        stands in brackets."""
        text = _BRACKETED.sub(lambda found: found[1] or "", f"{self.because}: {self.do}")
        return text.replace("`{name}`", "this").replace("{name}", "this")


@dataclass(frozen=True, slots=True)
class Message:
    """An entry. `parts`: of each text, what stands before and behind each gap, in
    order. `threads`: the address of each thread by its name."""

    id: str
    family: Family
    kind: str | None
    texts: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    exception: str
    torch: str
    means: str
    title: str
    names_cause: bool
    wrong: tuple[str, ...]
    causes: tuple[UsualCause, ...]
    threads: Mapping[str, str]
    asks: tuple[tuple[str, ...], ...] = ()
    touches: tuple[tuple[str, ...], ...] = ()
    general: bool = False
    named: tuple[tuple[str, ...], ...] = ()
    subjects: tuple[tuple[str, ...], ...] = ()
    raised_at: str = ""
    of_module: bool = False
    let_pass: str | None = None
    patterns: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def question(self) -> bool:
        """Return True if it is, or is also, what people ask who see no error."""
        return bool(self.asks or self.subjects)

    def found_in(self, message: str) -> int:
        """How many characters of a message (lower case, single spaces, no backticks, which
        Markdown takes out) an entry's text covers at most; 0 for another message."""
        return max((_covered(parts, message) for parts in self.parts), default=0)


def _covered(parts: Sequence[str], message: str) -> int:
    at = 0
    for part in parts:
        found = message.find(part, at)
        if found < 0:
            return 0
        at = found + len(part)
    return sum(map(len, parts))


def read(table: Mapping[str, Any], causes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Message:
    """The entry of a file's table; `causes` holds those of all entries, by their ids."""
    name = str(table.get("id"))
    if unknown := table.keys() - _MESSAGE:
        raise CatalogueError(f"{name}: no such field: {', '.join(sorted(unknown))}")
    if table["family"] not in get_args(Family):
        raise CatalogueError(f"{name}: no such family: {table['family']}")
    texts = tuple(table.get("texts", ()))
    if any(text != text.lower() or "  " in text for text in texts):
        raise CatalogueError(f"{name}: texts are lower case, with single spaces")
    given = table.get("cause") or causes.get(table.get("same_causes", ""), ())
    if not given:
        raise CatalogueError(f"{name}: it has no cause")
    return Message(
        id=name,
        family=table["family"],
        kind=table.get("kind"),
        texts=texts,
        parts=tuple(tuple(p.strip() for p in t.replace("`", "").split(GAP)) for t in texts),
        exception=table.get("exception", "RuntimeError"),
        torch=table.get("torch", "all"),
        means=table["means"],
        title=table.get("title", ""),
        names_cause=table.get("names_cause", False),
        wrong=tuple(table.get("wrong", ())),
        causes=tuple(_cause(name, one) for one in given),
        asks=_lists(table, "asks"),
        touches=_lists(table, "touches"),
        general=table.get("general", False),
        named=_lists(table, "named"),
        subjects=_lists(table, "subjects"),
        raised_at=table.get("raised_at", ""),
        of_module=table.get("of_module", False),
        let_pass=table.get("let_pass"),
        patterns=tuple(table.get("patterns", ())),
        near=tuple(table.get("near", ())),
        threads={thread: _address(name, thread) for thread in table.get("threads", ())},
    )


def _lists(table: Mapping[str, Any], field: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(topics.split()) for topics in table.get(field, ()))


def _address(name: str, thread: str) -> str:
    """Return where a thread is, which GitHub redirects where it is a pull request."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", thread):
        raise CatalogueError(f"{name}: a thread is owner/repository#number, not {thread}")
    return f"https://github.com/{thread.replace('#', '/issues/')}"


def _cause(name: str, table: Mapping[str, Any]) -> UsualCause:
    if unknown := table.keys() - _CAUSE:
        raise CatalogueError(f"{name}: no such field of a cause: {', '.join(sorted(unknown))}")
    if missing := {"because", "do"} - table.keys():
        raise CatalogueError(f"{name}: a cause lacks {', '.join(sorted(missing))}")
    look = table.get("look")
    if look is not None and (unknown := look.keys() - FORMS):
        raise CatalogueError(f"{name}: nothing looks for {', '.join(sorted(unknown))}")
    if look is None and "{name}" in table["because"] + table["do"]:
        raise CatalogueError(f"{name}: a cause that names something has to look for it")
    return UsualCause(
        because=table["because"],
        do=table["do"],
        look=look,
        blames=table.get("blames", True),
        note=table.get("note", "lines"),
        kind=table.get("kind"),
        sure=table.get("sure", False),
    )
