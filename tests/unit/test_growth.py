"""Whatever sees a stranger's text takes time that grows with it, and no faster.

Each function is timed on a text and on one eight times as long, in one process; only the ratio
counts. Eight times the time is linear, sixty-four times quadratic.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator

import pytest

from analyzers.paste import legible
from analyzers.paste.pasted import Pasted
from analyzers.source.edits import unified_diff
from analyzers.source.linediff import changed_lines
from analyzers.tracebacks import parse
from app.pages.diffs import hunks
from app.present.highlight import highlight_block
from app.present.markdown import to_html, to_inline_html
from app.present.share import fenced
from app.present.snippets import snippet_of
from app.present.visible import visible
from app.present.wording import sentences
from sandbox.collect import read_trace
from sandbox.stderr import last_exception

TIMES = 8
SUPERLINEAR = 28.0  # between linear and quadratic, with room for a busy machine
LEAST_S = 0.02  # less says nothing about growth
BYTES = 6_000

UNITS = [
    "/", " ", "\t", "a", "0\n", '"', "'", "(", "[", "{", "\\", "~", "^", ".", "_", ": ", "#", "`",
    "*", "!", "%", ",", ";", "\n", "\n\n", "\r", "\x1b[", "\x1b]", "a.", "a(", "[a]", "a, ", "- ",
    "> ", "```\n", "'''", "<", "](", "* a\n", "\u2028", "1", "x = 1\n", "if a:\n", "In [1]: ",
    '  File "a.py", line 1, in f\n', "Traceback (most recent call last):\n", "Foo: bar\n",
    "----> 1 ", "[rank0]: ", "except a, ", "print ", ">>> a\n", "... a\n", "@a\n", "else:\n",
]  # fmt: skip


def printed(text: str) -> object:
    """As a launcher reads it: a whole tail, a file's name, a function's name, a message."""
    head = "Traceback (most recent call last):\n"
    named = f'{head}  File "{text}", line 1, in {text}\nFoo: {text}\n'
    return last_exception(head + text), last_exception(named), last_exception(text)


def changed(text: str) -> object:
    """A patch that changes the first and the last line."""
    before, after = f"first\n{text}\nlast\n", f"First\n{text}\nLast\n"
    diff = unified_diff("train.py", before, after)
    return changed_lines(before, after), snippet_of(before, after), hunks(diff)


def pasted(text: str) -> object:
    """A patch that changes the first and the last line, shown with the prompts of a transcript."""
    read = f"first\n{text}\nlast\n"
    sent = "".join(f">>> {line}" for line in read.splitlines(keepends=True))
    return Pasted(read, sent).back(f"First\n{text}\nx\n{text}\nLast\n")


def records(text: str) -> object:
    line = json.dumps({"t": "raised", "type": "E", "message": text, "frames": []})
    return read_trace(text.encode()), read_trace(line.encode())


READERS: dict[str, Callable[[str], object]] = {
    "printed traceback": printed,
    "changed lines": changed,
    "patch of a paste": pasted,
    "records": records,
    "pasted traceback": parse,
    "pasted code": legible,
    "markdown": to_html,
    "one sentence": to_inline_html,
    "summary": sentences,
    "colours": highlight_block,
    "fence": lambda text: fenced(text, "diff"),
    "characters": visible,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Processor time of this thread."""
    began = time.thread_time()
    read(text)
    return time.thread_time() - began


def growth(read: Callable[[str], object], text: str) -> float:
    """How many times the whole text takes as long as its first part; 1 where both are quick."""
    whole = seconds(read, text)
    if whole < LEAST_S:
        return 1.0
    return whole / max(seconds(read, text[: len(text) // TIMES]), 1e-6)


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """The collector looks at whatever the process holds, not at the text."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.rotating(4)
@pytest.mark.parametrize("name", READERS)
def test_time_grows_with_the_text(name: str) -> None:
    read = READERS[name]
    read("a")  # imports and tables are made once
    steep = []
    for unit in UNITS:
        text = unit * (TIMES * BYTES // len(unit))
        # A busy machine disturbs one measurement; it does not disturb three in the same way.
        if all(growth(read, text) > SUPERLINEAR for _ in range(3)):
            steep.append(unit)
    assert not steep
