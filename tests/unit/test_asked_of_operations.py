"""Questions about what an operation, a call or a trainer of torch does to gradients; what a line of
a paste surely is, whatever is asked; and a title that names the subject of the lines below it."""

from __future__ import annotations

import pytest

from analyzers.messages import entry_of, question_in
from analyzers.request.examine import examine
from analyzers.request.examined import Examined

ASKED = {
    "Does clamp pass the gradient of values outside of its bounds?": "gradient-of-clamp",
    "Is the gradient of torch.where zero where the condition is false?": "gradient-of-where",
    "Which elements get the gradient of torch.topk?": "gradient-of-extremes",
    "Do repeated indices of torch.gather add up their gradients?": "gradient-of-indexing",
    "Is grid_sample differentiable in the grid?": "gradient-of-resampling",
    "Does the gradient flow through torch.cat?": "gradient-of-shapes",
    "The backward of torch.linalg.eigh explodes, why?": "gradient-of-decompositions",
    "dist.sample() or rsample() for a gradient?": "gradient-of-samples",
    "Is loss.sum() instead of loss.mean() wrong?": "sum-or-mean-of-loss",
    "The batchnorm backward has the right shape, and a wrong dgamma": "gradient-of-normalisation",
    "Weight tying: do both layers share weights in the gradient?": "shared-weights",
    "How does the gradient reversal layer work?": "scaled-gradient",
    "backward of my custom Function returns None for 3 inputs, is it the number of gradients?": (
        "gradients-for-inputs"
    ),
    "torch.autograd.Function: gradients of unused outputs": "zeros-for-unused-outputs",
    "Why torch.autograd.backward(inputs, grads), and not the loss?": "gradient-of-outputs",
    "Does weight decay change frozen parameters?": "optimizer-without-gradient",
    "Why does LBFGS need a closure?": "closure-of-optimizer",
    "How do I know that GradScaler has skipped the step?": "scaler-skips-steps",
    "nn.Parameter overwrites requires_grad": "flag-of-a-parameter",
    "nn.Parameter(x).cuda() is not registered": "moved-parameter",
    "torch.compile drops the graph of autograd.grad": "derivative-inside-compiled",
    "inference_mode or no_grad for targets?": "inference-or-no-grad",
    "LoRA weights are zero-initialized, is the gradient zero?": "zero-initialised",
    "The head is replaced; new parameters do not change": "late-parameters",
    "Why is the encoder called twice, with a second forward?": "why-forward-again",
    "Is embed_tokens in modules_to_save trained by the adapter?": "fully-trained-modules",
    "Does the embedding change with LoRA?": "embeddings-under-adapters",
    "Does load_in_4bit allow gradients?": "training-quantised",
    "Is the hidden state of the RNN reset to zero each time?": "state-of-recurrent",
    "Gradient checkpointing needs as much memory as before": "checkpointing-saves-nothing",
    "Why topological order, and not recursive calls of _backward?": "hand-written-derivatives",
    "Does no_sync() have to include the forward?": "where-no-sync-belongs",
    "With bf16 params, where do the fp32 grads come from?": "gradients-in-full-precision",
    "Is it safe to set find_unused_parameters=False?": "unused-flag-safe",
    "gather_with_grad: is the gradient scaled by the world size?": "gathered-with-gradient",
    "retain_grad() does nothing under torch.compile": "retained-inside-compiled",
    "toggle_optimizer fails with torch.compile": "flags-toggled-in-compiled",
    "Can I train through torch.func.jvp without create_graph?": "training-through-jvp",
    "My custom Function returns a larger gradient, and it is summed over the batch": (
        "gradient-summed-to-input"
    ),
    "The distance map is computed under no_grad, is that a problem?": "constant-factor-of-loss",
    "I froze the encoder and call eval(), and its gradient is lost": "frozen-part-in-between",
    "Is the hidden state carried over to the next batch?": "state-of-recurrent",
    "Which gradient has softmax with cross entropy?": "softmax-derivative",
    "Broadcasting: the gradient shape is wrong in the backward of add": "broadcast-in-backward",
    "Why does += belong into the backward of a multiplication?": "hand-written-derivatives",
    "Why does autograd.grad return a tuple, why the [0]?": "tuple-of-gradients",
    "Does the policy loss affect the value network?": "policy-and-value",
    "Is torch.gradient the same as autograd.grad?": "gradient-by-differences",
    "Is the activation a leaf, and requires_grad?": "results-require-gradients",
}
OTHERS = (
    "The value should be none in this configuration.",
    "How do you generate the pseudo label?",
    "The numpy graph of the results is broken.",
    "We accumulate the inner product of both lists.",
    "DDP broadcasts the parameters in the first forward.",
    "Does gather preserve the order of the rows?",
    "How is the carry bit handled?",
    "The frozen lake is fixed on the map.",
    "We gather all reports of the network by hand.",
    "The map of distances is printed.",
    "Safe to delete this file?",
    "The clamp of the bench is broken.",
    "We index the documents of our site.",
    "The mean of both columns is printed.",
    "The adapter for the monitor is missing.",
    "Sam asks why the gradient is so large in the second term.",
    "A complex model: why is the gradient wrong?",
    "Why is anomaly detection on videos slow?",
)


@pytest.mark.parametrize(("words", "entry"), ASKED.items(), ids=lambda text: text[:40])
def test_what_is_asked_about_is_known(words: str, entry: str) -> None:
    found = question_in(words)
    assert found is not None
    assert found.id == entry


@pytest.mark.parametrize("words", OTHERS)
def test_words_of_other_things_ask_nothing(words: str) -> None:
    assert question_in(words) is None


@pytest.mark.parametrize(
    ("message", "entry"),
    [
        ("ZeroTensors are immutable. Please use the materialized zero tensor", "zero-tensor"),
        ("Shapes of gradients are not equal. Expected: [2, 1], got: [2, 4]", "broadcast-in"),
        ("A module has unknown inputs or outputs type (<class 'a.B'>)", "unknown-output-type"),
        ("No grad accumulator for a saved leaf!", "saved-leaf-lost"),
        (
            "set_sizes_and_strides is not allowed on a Tensor created from .data or .detach().",
            "resized-without-graph",
        ),
        ("unwrapped_count > 0 INTERNAL ASSERT FAILED at a.cpp", "numbers-in-transform"),
        ("please pass in use_reentrant=True or use_reentrant=False explicitly.", "checkpoint-flag"),
    ],
)
def test_a_message_is_known(message: str, entry: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id.startswith(entry)


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def first_hint(text: str) -> str:
    hints = asked(text).hints
    return hints[0].text if hints else ""


PARAMETER = "class Gate{}:\n    def __init__(self):\n        self.w = nn.Parameter({}){}\n"
FAULTS = (
    *("keeps no gradient", "clears the gradients", "as soon as it is reached"),
    "result of an operation on a parameter",
)
OWN_PARAMETER = "import small.nn as nn\n"
REGISTERED = "        self.w = nn.Parameter(self.w)\n"
CPU = "device = torch.device('cpu')\n"
CHOSEN = "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
PASTE = "# Something about my code\n\nIs this the way to do it?\n\n```python\n{code}```\n"


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("self.spike = nodes.LIFNode()\nself.spike.requires_grad = False\n", ""),
        ("self.scale = torch.tensor(1.0)\nself.scale.requires_grad = False\n", ""),
        (
            "class Gate(nn.Module):\n    def __init__(self):\n"
            "        self.w = nn.Parameter(torch.zeros(3)).to(device)\n",
            "the result of an operation on a parameter",
        ),
        (
            "class Gate(nn.Module):\n    def __init__(self):\n"
            "        self.w = nn.Parameter(torch.zeros(3).to(device))\n",
            "",
        ),
        (PARAMETER.format("(nn.Module)", "torch.zeros(3)", ".half()"), "result of an operation"),
        (CHOSEN + PARAMETER.format("(nn.Module)", "weight", ".to(device)"), "of an operation"),
        (PARAMETER.format("(nn.Module)", "torch.zeros(3)", ".float()"), ""),
        (PARAMETER.format("(nn.Module)", "torch.zeros(3)", ".to('cpu')"), ""),
        (CPU + PARAMETER.format("(nn.Module)", "weight", ".to(device)"), ""),
        (PARAMETER.format("(nn.Module)", "torch.zeros(3, device=dev)", ".to(dev)"), ""),
        (PARAMETER.format("(nn.Module)", "grid, requires_grad=False", ".cuda()"), ""),
        (PARAMETER.format("", "torch.zeros(3)", ".cuda()"), ""),
        (OWN_PARAMETER + PARAMETER.format("(Layer)", "0.5", ".double()"), ""),
        (PARAMETER.format("(nn.Module)", "weight", ".cuda()") + REGISTERED, ""),
        ("loss.backward()\nopt.zero_grad()\nopt.step()\n", "clears the gradients between"),
        ("loss.backward()\nopt.step()\nopt.zero_grad()\n", ""),
        ("loss.backward()\nxm.optimizer_step(opt)\nopt.zero_grad()\nplan.step()\n", ""),
        ("loss_d.backward()\nopt_g.zero_grad()\nopt_d.step()\n", ""),
        ("loss.backward()\nopt.zero_grad()\nput_back_gradients(old)\nopt.step()\n", ""),
        ("loss.backward()\nold = w.grad\nopt.zero_grad()\nw.grad = old\nopt.step()\n", ""),
        (
            "x = torch.ones(3, requires_grad=True)\nx = x.cuda()\ny = f(x)\ny.sum().backward()\n"
            "print(x.grad)\n",
            "keeps no gradient",
        ),
        (
            "x = torch.ones(3, requires_grad=True)\nx = x.cuda()\nx.retain_grad()\n"
            "y = f(x)\ny.sum().backward()\nprint(x.grad)\n",
            "",
        ),
        (
            "def a():\n    x = torch.ones(3, requires_grad=True)\n    f(x).backward()\n"
            "def b(x):\n    x = x.cuda()\n    return x.grad\n",
            "",
        ),
        (
            "x = torch.ones(3, requires_grad=True)\nx = x.cuda()\nx = make(x)\nf(x).backward()\n"
            "print(x.grad)\n",
            "",
        ),
        (
            "x = torch.ones(3, requires_grad=True)\nz = x.cuda()\ny = f(z)\ny.sum().backward()\n"
            "print(x.grad)\n",
            "",
        ),
        (
            "def run(self):\n    self._backward()\n    for v in self._prev:\n        v.run()\n",
            "as soon as it is reached",
        ),
        (
            "def run(self):\n    self._backward()\n    for v in self._prev:\n"
            "        v.pending -= 1\n        if v.pending == 0:\n            v.run()\n",
            "",
        ),
        (
            "def run(self):\n    for v in self._prev:\n        v.run()\n    order.append(self)\n",
            "",
        ),
    ],
)
def test_a_line_that_surely_is_a_fault_decides(code: str, part: str) -> None:
    text = PASTE.format(code=code)
    found = next((hint for hint in asked(text).hints if hint.place is not None), None)
    assert (found is not None and bool(part) and part in found.text) or not part
    if not part:
        assert found is None or "surely" not in found.text
        assert "Python attribute" not in first_hint(text)
        for fault in FAULTS:
            assert fault not in first_hint(text)


def test_a_comment_asks_nothing_of_a_whole_script() -> None:
    code = "# a demo\nself.spike = nodes.LIFNode()\nself.spike.requires_grad = False\n"
    assert asked(code).hints == ()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("# Circle loss\n\nWhy does it use detach()?", "only weighs the terms"),
        ("# Implementation of stopgrad\n\nWhere is it?", "stop-gradient is written"),
        ("# A loss\n\nIs detach() called before backward()?", "detached before its backward"),
        ("# no_grad\n\nIs it necessary for the teacher?", "a teacher's output is a target"),
        ("# torch.no_grad()\n\nWhy around the validation loop?", "only saves memory and time"),
    ],
)
def test_words_choose_among_the_causes(words: str, part: str) -> None:
    assert part in first_hint(words)


def test_a_title_names_what_the_lines_below_ask() -> None:
    found = question_in("FSDP in our trainer\n\nHow do I clip, with clip_grad_norm_?")
    assert found is not None
    assert found.id == "place-of-clipping"
    general = "# Question about torch.where\n\nNothing learns."
    assert asked(general).asked == "gradient-of-where"  # the title's subject is more to the point


UNUSED = """\
# Two models

RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.

```python
net = DDP(net)
a = net(x)
b = net(y)
start, end = time(0), time(1)
last = time(2)
loss = criterion({used})
loss.backward()
```
"""


def test_an_output_that_nothing_uses_is_named() -> None:
    assert "`b` is an output" in first_hint(UNUSED.format(used="a"))
    assert "is an output" not in first_hint(UNUSED.format(used="a + b"))
    counted = UNUSED.format(used="a + b").replace(
        "new one.", "new one. Parameter indices which did not receive grad for rank 0: 28 29"
    )
    assert any("counts the parameters" in hint.text for hint in asked(counted).hints)


@pytest.mark.parametrize(
    "asked",
    [
        "How do I implement a stochastic gradient descent classifier in sklearn?",
        "How do I compute a gradient of an image with a Sobel filter in OpenCV?",
    ],
)
def test_other_gradients_than_those_of_autograd_are_not_asked_about(asked: str) -> None:
    assert question_in(asked) is None
