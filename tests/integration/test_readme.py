"""What the README shows is what the command prints."""

from __future__ import annotations

import re

from tests import readme


def test_the_example_prints_what_is_shown() -> None:
    example = readme.example(readme.README.read_text())
    assert _steady(readme.answer(example["script"])) == _steady(example["answer"]), (
        "`make docs` renews the README's example"
    )


def _steady(answer: str) -> str:
    """Without what other processors round differently: the largest difference of gradients."""
    return re.sub(r"within \d\S*", "within …", answer)
