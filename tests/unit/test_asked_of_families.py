"""Messages of saving for a backward, clearing, freezing and compiled code, and what the code that
people post with their questions shows; each with a look-alike."""

from __future__ import annotations

import ast

import pytest

from analyzers.advice.missing_parameters import optimizer_of_another
from analyzers.evidence import MissingGraph
from analyzers.explain.reasons import reason_of
from analyzers.messages import entry_of
from analyzers.request.examine import examine
from analyzers.source.project import Project
from analyzers.tracebacks import parse
from provenance import CodeLine


@pytest.mark.parametrize(
    ("message", "entry"),
    [
        ("You must implement the backward function for custom autograd.Function.", "function-inc"),
        ("grad_output must be contiguous", "not-contiguous"),
        ("expects all parameters to have same requires_grad", "fsdp-flags"),
        ("tensor 'L['h']' requires_grad mismatch. expected requires_grad=1", "compiled-again"),
        ("Checkpointing is not compatible with .grad(), please use .backward()", "checkpoint-with"),
        ("Detected call of `lr_scheduler.step()` before `optimizer.step()`.", "scheduler-first"),
    ],
)
def test_a_message_is_known(message: str, entry: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id.startswith(entry)


def first_hint(text: str) -> str:
    return examine(text, "train.py", {}, "").hints[0].text


RECOMPUTED = """\
# CheckpointError with FSDP{words}

torch.utils.checkpoint.CheckpointError: Recomputed values for the following tensors have different \
metadata than during the forward pass.
saved metadata: {{'shape': torch.Size([8, 64]), 'dtype': torch.float32}}
recomputed metadata: {{'shape': torch.Size([{size}]), 'dtype': torch.float32}}
"""


def test_sharding_is_no_cause_of_a_part_of_a_dimension() -> None:
    assert "sharded parameters" in first_hint(RECOMPUTED.format(words="", size="0"))
    assert "sharded parameters" not in first_hint(RECOMPUTED.format(words="", size="8, 32"))
    divided = first_hint(RECOMPUTED.format(words=" and context parallel", size="8, 32"))
    assert "divides the sequence" in divided


REDUCTION = """\
"RuntimeError: Expected to have finished reduction in the prior iteration before starting a new \
one. You can enable unused parameter detection by passing the keyword argument \
find_unused_parameters=True to the wrapper", is what DDP says.{words}
"""


def test_the_advice_of_a_message_is_no_setting_of_the_script() -> None:
    assert "in some iteration" in first_hint(REDUCTION.format(words="")).lower()
    words = "\n\nWe call DDP(net, find_unused_parameters=True)."
    assert "makes DDP follow" in first_hint(REDUCTION.format(words=words))
    words = "\n\nWith find_unused_parameters=True it works, is the result the same?"
    assert "changes no gradient" in first_hint(REDUCTION.format(words=words))


def test_a_line_of_a_library_that_raises_is_no_program() -> None:
    raised = (
        'raise AssertionError(\n    "FSDP does not support changing the parameters between "\n'
        '    f"forward and backward for {self.kind}"\n)\n'
    )
    found = examine(f"Two calls end in this:\n\n```\n{raised}```\n", "train.py", {}, "")
    assert found.project.recalled
    assert "FSDP does not support" in parse(f"```\n{raised}```\n").message


def test_a_title_is_no_program() -> None:
    assert examine("# Why is the target detached here?\n", "train.py", {}, "").no_program
    assert not examine("# A demo\nx = 1\n", "train.py", {}, "").no_program


def test_of_frames_without_a_message_nothing_is_said_to_learn_nothing() -> None:
    words = "# Fails to backprop\n\n"
    frames = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g(x)\n'
    assert examine(words, "train.py", {}, "").asked == "nothing-learns"
    assert examine(words + frames, "train.py", {}, "").asked is None


@pytest.mark.parametrize(("code", "known"), [("a.T @ grad.data", True), ("a.T @ b", False)])
def test_shapes_of_an_own_backward_are_those_of_a_line_with_a_gradient(
    code: str, known: bool
) -> None:
    message = "matmul: Input operand 1 has a mismatch in its core dimension 0"
    found = entry_of(message, code)
    assert (found is not None and found.id == "shapes-in-own-backward") is known


NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("I use a metric as the loss function", "has no derivative"),
        ("It fails in eval mode of my implicit layer", "solver runs under `no_grad`"),
    ],
)
def test_words_name_why_there_is_no_graph(words: str, part: str) -> None:
    assert part in first_hint(f"# {words}\n\n{NO_GRAPH}\n")
    assert part not in first_hint(f"# It fails\n\n{NO_GRAPH}\n")


def test_a_backward_in_an_evaluation_of_a_trainer_has_its_reason() -> None:
    code = (
        "import lightning as pl\nclass M({base}):\n    def {name}(self, x):\n"
        "        loss = self.net(x)\n        loss.backward()\n"
    )
    at = CodeLine("train.py", 5)
    lost = MissingGraph("observed", at=at, lost_by="unknown")
    kinds = []
    theirs = "pl.LightningModule"
    for base, name in ((theirs, "predict_step"), (theirs, "training_step"), ("A", "predict_step")):
        text = code.format(base=base, name=name)
        reason = reason_of(lost, Project({"train.py": text}, "train.py"))
        kinds.append(reason.kind if reason is not None else None)
    assert kinds == ["evaluation", None, None]


OFF = (
    "import torch\nw = torch.ones(2, requires_grad=True)\n"
    "with torch.{mode}():\n    y = w.clone().requires_grad_()\ny.exp().backward()\n"
)


@pytest.mark.parametrize(
    ("mode", "lost_by", "kind"),
    [
        ("inference_mode", "inference", "inference"),
        ("inference_mode", "argmax", None),
        ("enable_grad", "inference", None),
    ],
)
def test_what_inference_mode_makes_has_no_graph(mode: str, lost_by: str, kind: str | None) -> None:
    at = CodeLine("train.py", 5)
    lost = MissingGraph("observed", at=at, ended_at=at, lost_by=lost_by)
    reason = reason_of(lost, Project({"train.py": OFF.format(mode=mode)}, "train.py"))
    assert (reason.kind if reason is not None else None) == kind


@pytest.mark.parametrize(("made", "blamed"), [("other", True), ("net", False)])
def test_an_optimizer_of_a_model_that_no_line_makes(made: str, blamed: bool) -> None:
    code = (
        "import torch\nclass Net(torch.nn.Module):\n    pass\n"
        f"{made} = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    )
    module = Project({"train.py": code}, "train.py").modules["train.py"]
    found = [optimizer_of_another(node, module) for node in ast.walk(module.tree)]
    assert ("net.parameters()" in found) == blamed


def test_an_unknown_error_is_explained_by_the_mechanism_that_words_name() -> None:
    error = "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"
    code = f"```python\nj = vmap(f)(x)\n```\n\n```\n{error}\n```\n"
    assert "without its batch dimension" in first_hint(f"# Is vmap wrong here?\n\n{code}")
    assert not examine(f"# Is my loader wrong here?\n\n{code}", "train.py", {}, "").hints
