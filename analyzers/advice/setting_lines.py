"""Settings in a paste, however they are written (keyword, YAML, JSON, a command's option), and what
its words mention or quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from analyzers.messages import said_of
from analyzers.source import typeset

MAX_LINE = 400
_LINES = 5000
_QUOTES = str.maketrans("", "", "'\"")
_QUOTED = re.compile(
    r"""(?<!`)(?:`|```)([^`]{3,200})(?:`|```)(?!`)|["“]\s*([^"“”`]{3,200}[=+*/-][^"“”`]{1,200})["”]"""
)
_DENIED = (  # "I do not use …", "I removed the …"
    r"(?:\b(?:no|not|never|without|remov(?:e|ed|ing)|delet(?:e|ed|ing))|n't)"
    r"(?: \w{1,12}){0,2} [`'\"]?$|(?:不|没|未|无)\w{0,3} ?$|\bw/o $"
)


@cache
def _pattern(setting: str) -> re.Pattern[str]:
    """Return a pattern for a setting (`use_reentrant=true`) in any notation; `--name` means
    true."""
    name, _, value = setting.partition("=")
    spelled = re.escape(name).replace("_", "[_-]")
    given = rf"['\"]?\s*(?:[:=]|\s)\s*['\"]?{re.escape(value)}\b"
    flag = rf"|--{spelled}(?=\s*(?:\\|--|$))" if value == "true" else ""
    begin = r"(?:^|(?<!keyword argument)[\s,({'\"-]|(?<!keyword argument )(?<!`)`+)"  # no advice
    return re.compile(rf"{begin}{spelled}{given}{flag}", re.IGNORECASE)


def settings_in(
    texts: Mapping[str, str], wanted: Sequence[str]
) -> Iterator[tuple[str, int, str, str]]:
    """Yield the file, line, setting and source of each line that holds a wanted setting.

    Settings are given as `name=value` and yielded as the line writes them.
    """
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines()[:_LINES], 1):
            found = (_pattern(one).search(line[:MAX_LINE]) for one in wanted)
            if (first := next(filter(None, found), None)) is not None:
                setting = first[0].translate(_QUOTES).strip(" \t,({-`")
                yield path, number, setting, line.strip()[:MAX_LINE]


def said_in(text: str, wanted: Sequence[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield the words of each line that hold the topics of one of the alternatives and are not
    denied, with the line and these topics. Of several topics the title may hold some.
    """
    alternatives = [names.split() for names in wanted]
    lines = [line for line in text.splitlines()[:_LINES] if line.strip()] if wanted else []
    title = _words(lines[0]) if lines else ""
    titled = {name for names in alternatives for name in names if said_of(title, [[name]])}
    for line in lines:
        words = _words(line)
        said = ((_said(words, names, titled), frozenset(names)) for names in alternatives)
        found, topics = next((one for one in said if one[0] is not None), (None, frozenset()))
        if found is not None and re.search(_DENIED, found[1]) is None:
            yield found[0], line.strip(), topics


def _said(words: str, names: list[str], titled: set[str]) -> tuple[str, str] | None:
    left = [name for name in names if name not in titled]
    return said_of(words, [names, left] if left else [names])


def _words(line: str) -> str:
    return " ".join(typeset.plain(line[:MAX_LINE]).replace("`", "").split())


def quoted_in(text: str) -> Iterator[str]:
    """Yield what a text quotes and does not deny: in backquotes, or statements between quotation
    marks."""
    for line in text.splitlines()[:_LINES]:
        for quoted in _QUOTED.finditer(line[:MAX_LINE]):
            if re.search(_DENIED, line[: quoted.start()]) is None:
                yield (quoted[1] or quoted[2]).strip()
