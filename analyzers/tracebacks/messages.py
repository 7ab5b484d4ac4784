"""What an error message means, in the wordings of all versions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzers.evidence import Family
from analyzers.messages import Message, entry_of, plain
from analyzers.tracebacks.model import TracebackPart

_OF_NO_LEAF = ".grad attribute of a tensor that is not a leaf"
_NONE_GRAD = (
    "unsupported operand type",
    "'nonetype' object has no attribute",
    "'nonetype' object is not",
)
_ATTRIBUTE_OF_NONE = re.compile(r"'nonetype' object has no attribute '(\w{1,60})'")
_COMPUTED_OF_GRAD = re.compile(r"[-+*/@]=?\s*[\w.\[\]]{1,80}\.grad\b|\.grad\s*[-+*/@]")
LEAST_SENTENCE = 40  # characters of a message that is known without the name of its exception
_LONGEST = 2000  # characters of a line
_ENGINE_WORDS = ("backprop", "backward", "gradient", "graph")
_BACKWARD = ("backward", "backprop")
_TWICE = ("more than once", "twice", "second time", "again", "already")
_QUOTED = re.compile(
    r"""(?:(?P<mark>["'`])|“)(?P<name>\w{0,60}(?:Error|Exception)):[ ]"""
    r"""(?P<message>.{1,400}?)(?(mark)(?P=mark)|”)"""
)
_SENTENCES = re.compile(r"[.;!?]\s")
_NONE_RAISED = re.compile(
    r"\bno (?:in-?place )?(?:error|exception)s?\b"
    r"|\b(?:was|is|were|are)(?: not|n't) (?:thrown|raised|reported|triggered)\b",
    re.IGNORECASE,
)
_GOES_WELL = re.compile(  # of one's own script: other frameworks may do what this one refuses
    r"\b(?:my|our|it|this)\b.{0,200}\bwithout(?: any| an?)? (?:error|exception|complaint)s?\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:must|should|would|will|ought to|has to|is going to|may|might|could)\b.{0,40}"
    r"\b(?:raise|fail|throw|crash|break|give|die|stop|come)",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\b(?:runs|works|trains|goes through)\b(?!.{0,80}\b(?:then|until|but)\b)", re.IGNORECASE
)
_OTHERWISE = re.compile(r"\b(?:with|without|if|when|once|until|for \w+ ?=)", re.IGNORECASE)
_MARKUP = " \t*`_#>\"'?:-"
_NO_QUOTES = str.maketrans("", "", "'\"")


def classify(part: TracebackPart) -> tuple[Family, str | None]:
    """Return the family of an error, and its kind if the message or the frames alone show it."""
    message = plain(part.message)
    code = part.frames[-1].code if part.frames else ""
    if (entry := entry_of(message, code)) is not None:
        return entry.family, entry.kind or _kind(part, entry.family)
    if "nonetype" in message and any(m in message for m in _NONE_GRAD) and _reads_grad(part):
        return "no-grad", "rebound"
    if _is_engine(part, message):
        return "engine", None
    return "other", None


def warned_of_grad(part: TracebackPart, lines: Sequence[str]) -> bool:
    """Return True if an error about None follows torch's warning about a non-leaf's gradient.

    If no frame shows the line, the warning says what was None.
    """
    message = part.message.lower()
    warned = (" ".join(lines[at : at + 2]).lower() for at in range(len(lines)))
    return "nonetype" in message and any(_OF_NO_LEAF in text for text in warned)


def reads_missing_grad(part: TracebackPart, lines: Sequence[str]) -> bool:
    """Return True if no frame shows where something was None, and a line of the text reads a
    `.grad` in the way that the message says: `x.grad.sign()`, `rate * w.grad`.
    """
    message = part.message.lower()
    if part.frames or "nonetype" not in message:
        return False
    asked = _ATTRIBUTE_OF_NONE.search(message)
    read = re.compile(rf"\.grad\.{asked[1]}\b") if asked else _COMPUTED_OF_GRAD
    known = asked is not None or _NONE_GRAD[0] in message
    return known and any(read.search(line[:_LONGEST].lower()) for line in lines)


def quoted_error(line: str) -> TracebackPart | None:
    """Return the error that a line mentions without raising it: a title, a quoted message."""
    text = line.strip()
    family = classify(TracebackPart(message=text))[0]
    entry = entry_of(text)
    named = entry is not None and (
        entry.names_cause or "Error: " in text or _is_little_else(text, entry)
    )
    if family in ("other", "engine") and not named:
        quoted = _QUOTED.search(text)
        if quoted is None or not (family == "engine" or entry_of(quoted["message"])):
            return None
        return TracebackPart(quoted["name"], quoted["message"].strip())
    before, error, message = text.partition("Error: ")
    name = before.rpartition(" ")[2].rpartition("]")[2].strip(_MARKUP)
    if error and name.isidentifier():
        return TracebackPart(f"{name}Error", _unmarked(message))
    return TracebackPart(entry.exception if entry is not None else "RuntimeError", _unmarked(text))


def _is_little_else(text: str, entry: Message) -> bool:
    """Return True if a line holds an entry's message, which is a sentence, and little besides."""
    covered = entry.found_in(plain(text).replace("`", ""))
    return covered >= LEAST_SENTENCE and covered * 3 >= len(text)


def _unmarked(message: str) -> str:
    """Return a message without what marks it in prose. Quotation marks around names in it stay."""
    bare = message.strip(_MARKUP.translate(_NO_QUOTES))
    for mark in ("'", '"'):
        around = bare.count(mark) == 1 or (bare.count(mark) == 2 and bare[:1] == bare[-1:] == mark)
        bare = bare.strip(mark) if around else bare
    return bare


def is_denied(text: str) -> bool:
    """Return True if prose says that an error it mentions is not raised.

    For example `a reviewer wrote that …; there is no error`. Prose about another setting
    (`with one layer there is no error`) denies nothing. What is only supposed to raise
    (`this must raise …`) is denied if the script is said to run.
    """
    supposed = any(_SUPPOSED.search(s) and quoted_error(s) for s in _SENTENCES.split(text))
    for sentence in _SENTENCES.split(text):
        runs = _RUNS.search(sentence) if supposed else None
        if runs is not None and not _OTHERWISE.search(sentence, 0, runs.start()):
            return True
        none = _NONE_RAISED.search(sentence)
        if _GOES_WELL.search(sentence):
            return True
        if none is not None and not _OTHERWISE.search(sentence, 0, none.start()):
            return True
    return False


def _kind(part: TracebackPart, family: Family) -> str | None:
    """Return the kind that the frames show beyond the message, or None."""
    if family != "graph-reuse":
        return None
    if any(frame.is_library and "lbfgs" in frame.file.lower() for frame in part.frames):
        return "closure"
    return None


def _reads_grad(part: TracebackPart) -> bool:
    own = [frame for frame in part.frames if not frame.is_library]
    return bool(own) and ".grad" in own[-1].code


def _is_engine(part: TracebackPart, message: str) -> bool:
    """Return True for an error of a hand-written engine.

    The user's own `backward` or `backprop` raised it about a backward call, or it says, in words
    that are not torch's, that something was run backward twice.
    """
    if not part.frames:
        return "backprop" in message and any(word in message for word in _TWICE)
    if part.frames[-1].is_library:
        return False
    inside = part.frames[-1].function.rpartition(".")[2].strip("_")
    words = _ENGINE_WORDS if inside.startswith("backward") else (*_ENGINE_WORDS, *_TWICE)
    return inside.startswith(_BACKWARD) and any(word in message for word in words)
