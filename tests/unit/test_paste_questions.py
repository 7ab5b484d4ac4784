"""Questions in words alone, and titles: which entry of the catalogue answers them."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine


def test_words_alone_are_no_program() -> None:
    examined = examine("My loss does not go down.\nWhy is that?\n", "train.py", {}, "")
    assert examined.problem is not None


def test_a_question_in_words_alone_has_its_usual_causes() -> None:
    words = "With gradient checkpointing all gradients of my LoRA layers are 'None'. Why?\n"
    examined = examine(words, "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert "enable_input_require_grads" in examined.hints[0].text
    assert "checkpoint" not in examine("p.grad is None, why?\n", "a.py", {}, "").hints[0].text


@pytest.mark.parametrize(
    "words",
    [
        "my generator does not learn",
        "The generator of my GAN doesn't train, what is wrong?",
        "Why do the weights of the generator not change during training?",
        "the generator is stuck",
        "training has no effect on the generator",
    ],
)
def test_one_question_has_one_answer_however_it_is_worded(words: str) -> None:
    examined = examine(words, "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert "D(fake.detach())" in examined.hints[0].text


def test_a_word_that_ends_like_a_negation_is_none() -> None:
    assert examine("I want to train a model", "train.py", {}, "").asked is None
    assert examine("every component is updated", "train.py", {}, "").asked is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("The codebook of my tokenizer never changes: its gradient is None.", "straight-through"),
        ("stem.0.weight has None grad\nstem.1.weight has None grad", "frozen"),
        ("Gradient checkpointing blocks the update of my adapters.", "use_reentrant=False"),
        ("训练100轮后模型权重没有更新，为什么？", "frozen"),
        ("In the second round with PEFT all lora_B weights remain zero.", "is_trainable=True"),
    ],
)
def test_what_the_words_name_comes_first(words: str, part: str) -> None:
    examined = examine(f"{words}\n", "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert part in examined.hints[0].text


@pytest.mark.parametrize(
    "words",
    [
        "# torch.compile: wrong second-order gradients of my energy\n\nx = 1",
        "`torch.compile` and double backward\n",
    ],
)
def test_second_derivatives_of_what_is_compiled_are_asked_about(words: str) -> None:
    assert examine(words, "train.py", {}, "").asked == "compiled-twice-differentiated"


@pytest.mark.parametrize(
    "words", ["Cannot enable gradients during validation", "Grad in validation?"]
)
def test_gradients_in_an_evaluation_are_asked_about(words: str) -> None:
    code = "from pytorch_lightning import Trainer\n\nTrainer().validate(net, rows)\n"
    examined = examine(f"# {words}\n\n{code}", "train.py", {}, "")
    assert examined.asked == "gradients-in-evaluation"
    assert "`Trainer(inference_mode=False)`" in examined.hints[0].text


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("autograd.grad(create_graph=True) gives requires_grad=False", "derivative-without-graph"),
        ("Setting requires_grad does nothing under torch.compile", "compiled-flags"),
        ("GPU usage is increasing with every epoch", "memory-grows"),
        ("Host RAM: continuous rising until the process is killed", "memory-grows"),
        ("VRAM climbs until OOM", "memory-grows"),
        ("显存不断增加，为什么？", "memory-grows"),
        ("What can I do if my loss isn't coming down?", "nothing-learns"),
        ("I see no change in the loss.", "nothing-learns"),
        ("My LoRA weights don't seem to get updated", "nothing-learns"),
        ("Part of the graph is lost under autocast", "nothing-learns"),
        ("backward returns NaN gradients", "gradient-is-nan"),
    ],
)
def test_a_question_is_known_by_what_it_names(words: str, entry: str) -> None:
    assert examine(f"{words}\n", "train.py", {}, "").asked == entry


CODE = "from net import net, batch\n\nloss = net(batch).mean()\nloss.backward()\n"


@pytest.mark.parametrize("form", ["# {}\n\n{}", "{}\n\n{}", "## {}\n\n```python\n{}```\n"])
@pytest.mark.parametrize(
    "title", ["Why is `x.grad` None after backward()?", "Weights not changing #7"]
)
def test_a_title_asks(title: str, form: str) -> None:
    assert examine(form.format(title, CODE), "train.py", {}, "").asked == "nothing-learns"


def test_a_title_above_python_quotes_the_error() -> None:
    text = (
        "# Trying to backward through the graph a second time, two losses #12\n\n"
        "from net import body, heads, batch\n\nshared = body(batch)\n"
        "for head in heads:\n    head(shared).mean().backward()\n"
    )
    examined = examine(text, "train.py", {}, "")
    assert (examined.files["train.py"], examined.pasted) == (text, {})
    assert examined.traceback is not None
    assert examined.traceback.family == "graph-reuse"


@pytest.mark.parametrize("comment", ["# print(net.weight.grad) gave None\n", "# not updated: lr\n"])
def test_a_comment_is_no_title(comment: str) -> None:
    assert examine(comment + CODE, "train.py", {}, "").asked is None
    below = CODE.replace("\n\n", f"\n\n{comment}\n", 1)
    assert examine(below, "train.py", {}, "").asked is None


def test_memory_that_is_full_in_an_evaluation_has_the_graphs_of_it_as_first_cause() -> None:
    printed = (
        "It is full as soon as the epoch has ended.\n\n```\nTraceback (most recent call last):\n"
        '  File "fit.py", line 9, in <module>\n    main()\n'
        '  File "fit.py", line 5, in validate\n    scores = net(rows)\n'
        "RuntimeError: CUDA error: out of memory\n```\n"
    )
    examined = examine(printed, "train.py", {}, "")
    assert "torch.no_grad()" in examined.hints[0].text
    assert "evaluation" in examined.hints[0].text
    assert examine("# GPU memory keeps rising while testing\n", "a.py", {}, "").asked


def test_words_that_no_space_parts_are_no_code() -> None:
    words = "在哪里设置requires_grad=True呢\n\n请问，谢谢。\n"
    assert examine(words, "train.py", {}, "").no_program
    code = "def step(net, x):\n    net.update(x)\n    print(net.weight.grad)  # 此处结果为None\n"
    examined = examine(f"进入 step() 方法，net.grad 的梯度为None\n\n{code}", "train.py", {}, "")
    assert (examined.fault, examined.asked) == (None, "nothing-learns")


@pytest.mark.parametrize(
    "words",
    [
        "I call optimizer.zero_grad(set_to_none=True) each time.",
        "The model does not fit into memory.",
        "Why did the learning rate not change?",
        "I detach the state between batches, and use torch.no_grad() in evaluation.",
        "A graph network in which edges are missing",
        'The reviewer says "memory leak, and p.grad is None", but it works. Who is right?',
        "p.grad is None, and then: Trying to backward through the graph a second time",
        "p.grad is None, and then\n\nValueError: too many dimensions 'str'",
    ],
)
def test_nothing_is_asked_next_to_an_error_or_of_code(words: str) -> None:
    assert examine(f"{words}\n", "train.py", {}, "").asked is None
