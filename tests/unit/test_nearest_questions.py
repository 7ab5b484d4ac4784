"""Questions that no list of topics holds as they are put, and the nearest that are known."""

from __future__ import annotations

import pytest

from analyzers.messages import nearest_in, question_in
from analyzers.request.examine import examine

NEAREST = {
    "Does a max pooling pass gradients? I take torch.max over the pages and wonder.": (
        "gradient-of-extremes"
    ),
    "Activation checkpointing: which tensors are kept?\n\nI read the source, and cannot tell.": (
        "how-checkpoints-work"
    ),
    "The state of my GRU\n\nThe class keeps self.h, of shape (layers, batch, n), and in a reset it "
    "is set to zeros. What is that hidden state needed for?": "state-of-recurrent",
    "no_grad or inference_mode, if both only switch recording off?": "inference-or-no-grad",
}


@pytest.mark.parametrize(("words", "entry"), NEAREST.items(), ids=NEAREST.values())
def test_a_question_in_words_of_its_own_has_the_nearest_answer(words: str, entry: str) -> None:
    found = nearest_in(words)
    assert found is not None
    assert found.entry.id == entry


@pytest.mark.parametrize(
    "words",
    [
        "Which loader is right for images of pages?",
        "Why does torch.gather want whole numbers as an index?",
        "What is the numpy equivalent of expand?",
        "The GRU has a hidden state.",  # asks nothing
    ],
)
def test_words_about_other_things_have_none(words: str) -> None:
    assert nearest_in(words) is None


def test_an_answer_to_the_nearest_question_says_so() -> None:
    examined = examine("Activation checkpointing: which tensors are kept?\n", "train.py", {}, "")
    assert examined.asked == "how-checkpoints-work"
    assert all("the question itself is not known" in hint.text for hint in examined.hints)


def test_a_title_that_asks_counts_more_than_what_is_said_below_it() -> None:
    below = "The loss is divided by the accumulation steps."
    found = question_in(f"Why is the trunk frozen?\n\n{below}")
    assert found is not None
    assert found.id == "freezing"


def test_a_long_text_is_searched_at_its_beginning_only() -> None:
    lines = [f"Item {number} of the log is long." for number in range(400)]
    assert nearest_in("\n".join([*lines, "Why is the trunk frozen?"])) is None
