"""Errors that stand in words, are denied, or are cut; and tracebacks in any order."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzers.tracebacks import MAX_CHARACTERS, parse
from analyzers.tracebacks.scanning import scan
from tests.unit.test_tracebacks import NEW_IPYTHON, OLD_COLAB, PLAIN, SECOND


def test_a_text_cut_at_the_end_still_gives_its_frames() -> None:
    parsed = parse(PLAIN.partition("RuntimeError")[0])
    assert parsed.exception == ""
    assert [frame.line for frame in parsed.frames] == [41, 30, 630]


BEGUN_IN_A_FRAME = """\
opt.step()
{parted}
    loss.backward()
  File "x/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
  [cut]
RuntimeError: Trying to backward through the graph a second time
"""


@pytest.mark.parametrize(
    ("parted", "first"),
    [
        ("------", "loss.backward()"),
        ("```", "loss.backward()"),
        ("", "loss.backward()"),
        ("if x:", ""),
    ],
)
def test_a_text_cut_at_the_beginning_may_begin_with_the_code_of_a_frame(
    parted: str, first: str
) -> None:
    text = BEGUN_IN_A_FRAME.format(parted=parted)
    scanned = scan(text.splitlines())
    assert (2 in scanned.taken) == bool(first)
    assert 5 in scanned.taken
    assert (scanned.parts[0].frames[0].code == first) == bool(first)


@given(st.text(max_size=400))
def test_any_text_is_parsed(text: str) -> None:
    assert parse(text).frames is not None


PIECES = st.sampled_from(
    [
        *PLAIN.splitlines(),
        *NEW_IPYTHON.splitlines(),
        *OLD_COLAB.splitlines(),
        'File "' * 9,
        "\x1b[",
        "> > > ",
        "----> ",
        "Cell In[",
        "Error detected in A. Traceback of forward call that caused the error:",
        "The above exception was the direct cause of the following exception:",
        string.printable,
    ]
)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=40))
@example(
    [
        "Error detected in A. Traceback of forward call that caused the error:",
        'File "train.py", line 41, in <module>',
        "Traceback (most recent call last):",
        "a line of code before any frame",
    ]
)
def test_any_order_of_real_lines_is_parsed(lines: list[str]) -> None:
    parsed = parse("\n".join(lines))
    assert all(frame.line >= 0 for frame in parsed.frames)


SAID = 'My reviewer says "Trying to backward through the graph a second time" will come.'


@pytest.mark.parametrize(
    ("words", "family"),
    [
        (SAID, "graph-reuse"),
        (f"{SAID} There is no error.", "other"),
        (f"{SAID}\nIt has run for weeks without an error, though.", "other"),
        (f"{SAID} With one layer there is no error.", "graph-reuse"),
        (f"{SAID} Keras does the same without any complaint.", "graph-reuse"),
        (f"{SAID}\n\nElsewhere there is no error.", "graph-reuse"),
        (f"{SAID} Here it runs, and he says that is luck.", "other"),
        (f"{SAID} With `retain_graph=True` it runs.", "graph-reuse"),
        (f"{SAID} It runs one epoch, then it dies.", "graph-reuse"),
        (f"It should give a number. One epoch runs. {SAID[18:68]}, it says.", "graph-reuse"),
    ],
)
def test_an_error_that_is_denied_is_none(words: str, family: str) -> None:
    assert parse(words).family == family


@pytest.mark.parametrize(
    "unit",
    ['File "', "\x1b[", "> ", "a" * 50, "A.", "2024-05-01 12:00:00 ", "-", "Cell In[1], ", "in "],
)
def test_time_grows_in_proportion_to_length(unit: str) -> None:
    import time

    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        best = float("inf")
        for _ in range(5):
            started = time.thread_time()  # a busy machine is no failure
            parse(text)
            best = min(best, time.thread_time() - started)
        return best

    quarter, whole = seconds(MAX_CHARACTERS // 4), seconds(MAX_CHARACTERS)
    assert whole < 16 * max(quarter, 1e-3)  # four times the text; quadratic would be sixteen


@pytest.mark.parametrize(
    ("text", "prose_only"),
    [
        (PLAIN, False),
        (f"RuntimeError: {SECOND}\n", False),
        (f"I had the error {SECOND} and have added retain_graph=True since.\n", True),
        ("It never learns.\n", True),
    ],
)
def test_an_error_that_stands_in_words_alone_is_prose_only(text: str, *, prose_only: bool) -> None:
    assert parse(text).prose_only is prose_only


@pytest.mark.parametrize(
    ("words", "family"),
    [
        ("I swapped the two updates, and now it stops with some inplace error.", "inplace"),
        ("换了顺序以后会报错：因为inplace操作导致梯度更新失败", "inplace"),
        ("I made everything in-place, and it is faster.", "other"),
        ("We use inplace activations. Here there is no in-place error at all.", "other"),
    ],
)
def test_words_name_an_error_without_its_text(words: str, family: str) -> None:
    assert parse(words).family == family


def test_a_forward_trace_inside_of_the_message_is_that_of_the_forward_call() -> None:
    text = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    loss.backward()
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace \
operation: [torch.FloatTensor [3]], which is output 0 of ReluBackward0, is at version 1; expected \
version 0 instead. Traceback of forward call that caused the error:
  File "train.py", line 5, in <module>
    h = torch.relu(layer(x))
"""
    found = parse(text)
    assert (found.family, found.forward_op) == ("inplace", "ReluBackward0")
    assert [frame.line for frame in found.frames] == [9]
    assert found.forward is not None
    assert (found.forward.line, found.forward.code) == (5, "h = torch.relu(layer(x))")


def test_where_a_view_was_made_is_read() -> None:
    text = """\
Traceback (most recent call last):
  File "train.py", line 7, in <module>
    rows[0].mul_(2)
RuntimeError: Output 0 of UnbindBackward0 is a view and is being modified inplace. This view was \
allocated at:
  File "train.py", line 6, in <module>
    rows = table.unbind()
"""
    found = parse(text)
    assert (found.family, found.kind) == ("inplace", "view")
    assert found.location is not None
    assert found.location.line == 7
    assert found.forward is not None
    assert found.forward.line == 6
