"""Posts about sharding, accumulation, checkpointing, compilers, kernels and transforms, and what
the catalogue knows of their messages; each with words that ask nothing."""

from __future__ import annotations

import pytest

from analyzers.advice.recomputed_shapes import shapes_of
from analyzers.messages import entry_of, question_in
from analyzers.paste import pieces
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.tracebacks import parse


def test_what_one_line_names_in_part_the_whole_text_may_ask() -> None:
    asked = "Forward mode for my sampler?\n\nIt consists of blocks with flash attention."
    found = question_in(asked)
    assert found is not None
    assert found.id == "no-forward-mode"
    assert question_in(asked.partition("\n")[0]) is None


def test_below_a_title_the_more_topics_decide() -> None:
    line, subject = "The grad_norm is 0.", "We train with GRPO and several rewards."
    of_title, of_text = question_in(f"# {line}\n\n{subject}"), question_in(f"{subject}\n{line}")
    assert of_title is not None
    assert of_text is not None
    assert (of_title.id, of_text.id) == ("gradient-norm-zero", "policy-loss")


def test_a_title_of_three_topics_decides_and_a_vague_one_does_not() -> None:
    body = "I accumulate gradients of two models, in two contexts."
    titles = {
        "Is something wrong with gradient accumulation?": "accumulating-several",
        "torch.compile fails under DDP": "ddp-of-compiled",
    }
    for title, entry in titles.items():
        found = question_in(f"# {title}\n\n{body}\n")
        assert found is not None
        assert found.id == entry


@pytest.mark.parametrize(
    ("title", "family"),
    [
        ("DDP: the error of unused parameters was not raised", "other"),
        ("DDP: the error of unused parameters was raised", "no-grad"),
    ],
)
def test_an_error_that_was_not_raised_is_none(title: str, family: str) -> None:
    assert parse(title).family == family


RAISED = {
    "NotImplementedError: Trying to use forward AD with _scaled_dot_product_flash_attention that "
    "does not support it because it has not been implemented yet.": "no-forward-mode",
    "RuntimeError: It looks like your LightningModule has parameters that were not used in "
    "producing the loss returned by training_step.": "unfinished-reduction",
    "NotImplementedError: DDPOptimizer backend: Found a higher order op in the graph. This is not "
    "supported.": "ddp-of-compiled",
    "AssertionError: The `grad_fn` is needed to access the `AccumulateGrad` and register the "
    "post-backward hook": "fsdp-first-forward",
    "AssertionError: no_sync context manager is incompatible with gradient partitioning logic of "
    "ZeRO stage 3": "partitioned-no-sync",
    "AssertionError: param.grad being None is not safe when overlap_grad_reduce is True": (
        "gradient-expected"
    ),
    "ValueError: The model did not return a loss from the inputs, only the following keys: logits. "
    "For reference, the inputs it received are input_ids.": "loss-not-returned",
    "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting "
    "run.": "loss-scale-exhausted",
    "RuntimeError: Found dtype Double but expected Float": "types-in-backward",
    "ValueError: PREFIX_TUNING does not work with gradient checkpointing.": (
        "checkpointing-unsupported"
    ),
    "RuntimeError: Backward hook returned an invalid number of grad_input, got 2, but expected 1": (
        "module-hook-result"
    ),
}


@pytest.mark.parametrize(("error", "entry"), RAISED.items(), ids=lambda text: text[:40])
def test_messages_of_libraries_are_known(error: str, entry: str) -> None:
    found = entry_of(parse(f"Traceback (most recent call last):\n{error}\n").message)
    assert found is not None
    assert found.id == entry


@pytest.mark.parametrize(
    ("title", "family"),
    [
        ("Inference tensor saved for backward, what now?", "no-grad"),
        ("DDP crashes with an unused parameters error", "no-grad"),
        ("Full backward hook and in-place activations", "inplace"),
        ("Inference takes long, and nothing is saved for later", "other"),
    ],
)
def test_a_message_is_known_by_its_words(title: str, family: str) -> None:
    assert parse(title).family == family


@pytest.mark.parametrize(
    ("line", "exception"),
    [
        ("The `grad_fn` is needed to access the `AccumulateGrad` and register the hook", ""),
        ("[BUG]AttributeError: 'DeepSpeedZeRoOffload' object has no attribute 'backward'",
         "AttributeError"),
        (
            "The `grad_fn` is needed to access the `AccumulateGrad` and register the post-backward "
            "hook",
            "AssertionError",
        ),
        ("I read somewhere, long ago, that of two kinds one does not support gradient checkpointing"
        " at all, and of the other nothing was said there", ""),
    ],
)  # fmt: skip
def test_a_whole_message_is_known_without_its_exception(line: str, exception: str) -> None:
    assert parse(f"It says:\n```\n{line}\n```\n").exception == exception


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ('"RuntimeError: Inference tensors cannot be saved for backward"', "Inference tensors"),
        ("'ValueError: Attempting to unscale FP16 gradients.'", "Attempting to unscale FP16 grad"),
        (
            "AttributeError: 'A' object has no attribute 'backward'",
            "'A' object has no attribute 'b",
        ),
    ],
)
def test_quotation_marks_of_names_belong_to_a_message(title: str, message: str) -> None:
    assert parse(title).message.startswith(message)


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def hint(text: str) -> str:
    return asked(text).hints[0].text


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("def f(w):\n    return criterion(layer(x), y)\n", True),
        ("def f(w):\n    return criterion(call(layer, w, x), y)\n", False),
        ("f = lambda w: criterion(layer(x), y)\n", False),
    ],
)
def test_a_transformed_function_has_to_read_its_argument(function: str, named: bool) -> None:
    code = f"{function}hessian(f, layer.weight)\n"
    first = hint(f"The Hessian of my parameters is zero\n\n```python\n{code}```\n")
    assert ("`f` does not read its argument" in first) == named


@pytest.mark.parametrize("manual", [True, False])
def test_a_plain_backward_in_manual_optimization_is_shown(manual: bool) -> None:
    code = (
        f"class Net(LightningModule):\n    def __init__(self):\n"
        f"        self.automatic_optimization = {not manual}\n\n"
        "    def training_step(self, batch, index):\n        loss = self.loss(batch)\n"
        "        loss.backward()\n        return loss\n"
    )
    first = hint(f"Gradients are not synchronized under DDP\n\n```python\n{code}```\n")
    assert ("`loss.backward` is called in manual optimization" in first) == manual


def test_an_import_alone_has_cut_no_loss() -> None:
    message = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    code = "import torch\nfrom sklearn.metrics import f1_score\n{}\nloss.backward()\n"
    alone = asked(f"{message}\n\n```python\n{code.format('loss = model(x).mean()')}```\n")
    used = asked(f"{message}\n\n```python\n{code.format('loss = f1_score(y, model(x))')}```\n")
    assert not any("sklearn" in one.text for one in alone.hints)
    assert any("sklearn" in one.text for one in used.hints)


def test_parameters_without_a_part_in_a_module_s_loss_are_no_loss_without_graph() -> None:
    error = next(error for error in RAISED if "LightningModule" in error)
    examined = asked(f"# It fails\n\n```\n{error}\n```\n\n```python\nt = Trainer(devices=2)\n```\n")
    assert {cause.pattern for cause in examined.from_traceback} <= {"unused-parameter"}
    assert "find_unused_parameters" in examined.hints[0].text


def test_a_gradient_of_which_the_message_is_cut_off_may_be_of_nothing() -> None:
    message = "Function DrawBackward returned an invalid gradient at index 2 - got {}"
    assert shapes_of(message.format("[0, 0, 3] but expe")) == "none-left"
    assert shapes_of(message.format("[90, 3] but expe")) == ""


def test_a_number_with_a_remark_is_no_call() -> None:
    remarks = "batch = 4 (accumulation=8)\nbatch = 32 (accumulation=1)\n"
    assert pieces(remarks.splitlines()) == []
    assert pieces("batch = size(accumulation=8)\n".splitlines()) != []


def test_a_post_with_a_command_is_no_program_with_a_syntax_error() -> None:
    command = "```bash\nfit run --devices 2 \\\n  out=/data/a12b/c\n```\n"
    post = f"# Nothing is printed\n\n{command}\nDoes this work at all in your setup?\n"
    assert asked(post).fault is None
    assert asked("```\n{'cost': 1, 'norm': nan，\n```\nnan 3a\n").fault is None
    assert asked("x = 1\nprint('a'\n").fault is not None
