"""Find which entry of the catalogue answers what somebody asks in words who sees no error.

All questions are ranked by what the words hold of them: the topics of a list of theirs, close
together or apart, and words of their own text. A topic or word counts the more, the fewer questions
have it; a title counts the most, then what asks something.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise

from analyzers.messages.catalogue_files import among, catalogue, held, plain, said_of, topics_in
from analyzers.messages.entry import Message
from analyzers.messages.topics import sentences

NEAR = 12.0  # of the weights that a question needs to be the nearest to words that ask another
_TITLE, _ASKING, _SAID = 1.0, 0.6, 0.3
_GENERAL = 0.82  # of what a question weighs that says no more than that nothing is learned
_TOGETHER, _APART = 4.0, 1.5  # what topics weigh, compared with words
_CAUSES, _NAME = 0.3, 2.0  # what words of causes and of the id weigh, compared with its first text
_SATURATED, _LENGTH = 1.2, 0.4  # how soon a word that occurs again adds nothing; how much length
_LINES = 300  # that are searched
_ADDRESS = re.compile(r"https?://\S+")
_QUOTED = re.compile(r'"([^"]{0,500})"')
_OF_CODE = re.compile(r"(?:\S+ ){0,3}[\w.]+\(\)[:\s]*")  # `with torch.no_grad()`
_WORD = re.compile(r"[a-z][a-z0-9]+")
_EVERYDAY = frozenset(
    _WORD.findall(
        "about after all also am an and any are as at be because been before being both but by can "
        "could did do does doing done down during each even every for from get got had has have "
        "having he hello help her here hi how however if in into is it its just know like made "
        "make many may me more most much my need no not now of on one only or other our out over "
        "please question same seem should so some still such than thank thanks that the their "
        "them then there these they thing this those through to too try trying up us use used "
        "using very want was way we well were what when where which while who why will with "
        "without work would you your"
    )
)
_STEM = 6  # letters of a word that tell it from others
_HOW_WEIGHS = 0.5
_ASKS = [("something-asked",)]
_FIELD = [("of-gradients",)]
_HOW_ASKED = frozenset(
    {"asking", "purpose", "curious", "why", "doubted", "compared", "asked-of", "how-to"}
)  # topics that say how something is asked, not what


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `known`: whether words hold all topics of a list of it, close together;
    `named`: the words by which another is the nearest that is known."""

    entry: Message
    known: bool
    named: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, or an empty line, with what it counts and the topics of questions it holds."""

    text: str
    weight: float
    topics: frozenset[str]

    def with_next(self, after: _Sentence) -> _Sentence:
        return _Sentence(f"{self.text} {after.text}", after.weight, self.topics | after.topics)


def question_in(text: str) -> Message | None:
    """Return the entry of what somebody asks, or None if it is none that is known."""
    known = (asked.entry for asked in _ranked(text) if asked.known)
    return next(known, None)


def nearest_in(text: str) -> Asked | None:
    """Return the question that is asked, or the nearest that is known; None if the words ask
    nothing about gradients."""
    ranked = _ranked(text)
    about = any(said_of(line, _FIELD) for line in _prose(text))
    open_to_others = about and asks_something(text)
    return next((asked for asked in ranked if asked.known or open_to_others), None)


def asks_something(text: str) -> bool:
    """Return True if a line of words asks something."""
    return any(said_of(line, _ASKS) for line in _prose(text))


def _ranked(text: str) -> list[Asked]:
    """Return the questions that the words ask, and those that they may ask, the likeliest first."""
    said = _said(_prose(text.strip()))
    topics: dict[str, float] = {}
    words: dict[str, float] = {}
    for sentence in said:
        for holder, names in ((topics, sentence.topics), (words, _stems(sentence.text))):
            for name in names:
                holder[name] = max(holder.get(name, 0), sentence.weight)
    known = _known(said, frozenset(topics))
    found = []
    for entry in _questions():
        lists = _lists()[entry.id]
        apart, subject = max((_covered(names, topics) for names in lists), default=(0, ""))
        weighs = known.get(entry.id, 0) + _APART * apart + _shared(entry, words)
        weighs *= _GENERAL if entry.general else 1
        if entry.id in known:
            found.append((weighs, Asked(entry, True)))
        elif subject and (weighs >= NEAR or among(frozenset(topics), entry.touches)):
            found.append((weighs, Asked(entry, False, _named(subject, said))))
    return [asked for _, asked in sorted(found, key=lambda one: -one[0])]


def _said(lines: Sequence[str]) -> list[_Sentence]:
    """Return the sentences of the first lines."""
    found: list[_Sentence] = []
    for line in lines[:_LINES]:
        weight = _SAID if found else _TITLE
        asking = max(weight, _ASKING)
        for one in sentences(line):
            weighs = asking if said_of(one, _ASKS) else weight
            found.append(_Sentence(one, weighs, held(one, _topics_asked())))
    return found


def _known(said: Sequence[_Sentence], topics: frozenset[str]) -> dict[str, float]:
    """Return what the questions weigh of which a sentence, or two in a row, hold a list of topics,
    and those of which all of the words hold one of subjects, by their ids. Where there is none, the
    title may hold some topics, and a sentence the others.
    """
    rows = [one.with_next(after) for one, after in pairwise(said) if one.text and after.text]
    subjects = {entry.id: _weight(_SAID, among(topics, entry.subjects)) for entry in _questions()}
    found = (_together(said), _together(rows, split=True), subjects)
    known = {name: max(one.get(name, 0) for one in found) for name in subjects}
    whole = {name: weighs for name, weighs in known.items() if weighs}
    if any(not catalogue()[name].general for name in whole):
        return whole
    return whole | _together([said[0].with_next(one) for one in said[1:]], split=True)


def _together(said: Iterable[_Sentence], split: bool = False) -> dict[str, float]:
    """Return the same for sentences. `split`: they are two, of which one may only ask."""
    found: dict[str, float] = {}
    for sentence in said:
        for entry in _questions() if sentence.topics else ():
            lists = [
                names
                for names in among(sentence.topics, entry.asks)
                if not (split and _HOW_ASKED.intersection(names))
                and said_of(sentence.text, [names])
            ]
            found[entry.id] = max(found.get(entry.id, 0), _weight(sentence.weight, lists))
    return {name: weighs for name, weighs in found.items() if weighs}


def _weight(weight: float, lists: Iterable[Sequence[str]]) -> float:
    return _TOGETHER * weight * max((sum(map(_rarity, names)) for names in lists), default=0)


def _covered(names: Sequence[str], topics: Mapping[str, float]) -> tuple[float, str]:
    """Return what the topics weigh of a list that words hold, wherever they stand (less, the more
    is missing), with the rarest of them."""
    part = sum(_rarity(name) * topics.get(name, 0) for name in names)
    if not part:
        return 0, ""
    rarest = max((name for name in names if name in topics), key=_rarity)
    return part * part / sum(map(_rarity, names)), rarest


def _shared(entry: Message, words: Mapping[str, float]) -> float:
    """Return what the words weigh that a question's own text has, too (Okapi BM25)."""
    counts, length = _own_words()[entry.id]
    return sum(
        weight * _rarity_of_word(word) * _saturated(counts[word], length)
        for word, weight in words.items()
        if word in counts
    )


def _saturated(count: float, length: float) -> float:
    return count * (_SATURATED + 1) / (count + _SATURATED * length)


def _named(topic: str, said: Sequence[_Sentence]) -> str:
    """Return the words that hold a topic."""
    found = (said_of(sentence.text, [[topic]]) for sentence in said if topic in sentence.topics)
    return next((words for words, _ in filter(None, found)), "")


def _prose(text: str) -> list[str]:
    lines = _ADDRESS.sub("", text.replace("`", "")).splitlines()
    return [_QUOTED.sub(_quoted, plain(line)).strip(" #*") for line in lines]


def _quoted(said: re.Match[str]) -> str:
    """Return a quoted name or code; other words between quotation marks are what others said."""
    return said[1] if " " not in said[1].strip() or _OF_CODE.fullmatch(said[1]) else ""


def _words(text: str) -> Iterable[str]:
    return (word for word in _WORD.findall(text.lower()) if word not in _EVERYDAY)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _words(text))


@cache
def _questions() -> tuple[Message, ...]:
    return tuple(entry for entry in catalogue().values() if entry.question)


@cache
def _lists() -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the lists of topics of each question, without those of how it is asked."""
    return {
        entry.id: [
            [name for name in names if name not in _HOW_ASKED]
            for names in entry.asks + entry.subjects + entry.touches
        ]
        for entry in _questions()
    }


@cache
def _topics_asked() -> Mapping[str, re.Pattern[str]]:
    return topics_in(names for e in _questions() for names in e.asks + e.subjects + e.touches)


@cache
def _own_words() -> Mapping[str, tuple[Mapping[str, float], float]]:
    """Return by its id how often a question's text has each word, and its length by the mean."""
    found: dict[str, dict[str, float]] = {}
    for entry in _questions():
        causes = " ".join(f"{cause.because} {cause.do}" for cause in entry.causes)
        texts = ((f"{entry.title} {entry.means}", 1.0), (causes, _CAUSES), (entry.id, _NAME))
        found[entry.id] = counts = defaultdict[str, float](float)
        for word, weight in ((word, weight) for text, weight in texts for word in _words(text)):
            counts[word[:_STEM]] += weight
    lengths = {name: sum(counts.values()) for name, counts in found.items()}
    mean = sum(lengths.values()) / len(lengths)
    return {
        name: (counts, 1 - _LENGTH + _LENGTH * lengths[name] / mean)
        for name, counts in found.items()
    }


@cache
def _shares() -> tuple[Counter[str], Counter[str]]:
    """Return how many questions have each topic, and each word."""
    topics = ({name for names in lists for name in names} for lists in _lists().values())
    words = (counts.keys() for counts, _ in _own_words().values())
    return Counter(chain.from_iterable(topics)), Counter(chain.from_iterable(words))


@cache
def _rarity(topic: str) -> float:
    return _HOW_WEIGHS if topic in _HOW_ASKED else _inverse(_shares()[0][topic])


@cache
def _rarity_of_word(word: str) -> float:
    return _inverse(_shares()[1][word])


def _inverse(share: int) -> float:
    return math.log(1 + (len(_questions()) - share + 0.5) / (share + 0.5))
