"""Errors of what was typed at a prompt, reported at the lines of the transcript."""

from __future__ import annotations

from analyzers.paste.transcripts import located_by_prompts
from analyzers.tracebacks import parse

MESSAGE = "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place"
TYPED = f"""\
>>> table = net.words.weight
>>> for n in fresh:
...     table[n] = middle
...
Traceback (most recent call last):
  File "<stdin>", line 2, in <module>
{MESSAGE} operation.
>>> print(table.shape)
torch.Size([9, 4])
"""


def test_a_line_of_what_was_typed_is_a_line_of_the_transcript() -> None:
    (frame,) = located_by_prompts(parse(TYPED), TYPED).frames
    assert (frame.line, frame.code) == (3, "table[n] = middle")


def test_of_several_errors_the_one_that_is_reported_has_its_own_lines() -> None:
    again = (
        TYPED
        + f"""\
>>> table[0].zero_()
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
{MESSAGE} operation.
>>> 1 / 0
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
ZeroDivisionError: division by zero
"""
    )
    (frame,) = located_by_prompts(parse(again), again).frames
    assert (frame.line, frame.code) == (10, "table[0].zero_()")


def test_other_errors_stay_as_they_are() -> None:
    elsewhere = TYPED.replace("<stdin>", "train.py")
    assert located_by_prompts(parse(elsewhere), elsewhere) == parse(elsewhere)
    cut = "\n".join(TYPED.splitlines()[4:])
    assert located_by_prompts(parse(cut), cut) == parse(cut)
