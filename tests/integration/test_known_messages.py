"""What is said where the message, and what was sent with it, say enough: the remedy comes first, in
every form, and nothing off the point comes with it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.present import wording
from app.present.brief import brief_of
from app.present.share import as_markdown, as_short_markdown
from app.schemas import Diagnosis, DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
READY = (
    "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the "
    "following reasons: 1) Use of a module parameter outside the `forward` function. Parameter at "
    "index 7 with name layers.3.up.weight has been marked as ready twice."
)
CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.cuda.FloatTensor [8]] is at version 3; expected version 2 instead."
)
FLAGS = "RuntimeError: you can only change requires_grad flags of leaf variables."
INFERENCE = "RuntimeError: Inference tensors cannot be saved for backward."
RECOMPUTED = (
    "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the "
    "following tensors have different metadata than during the forward pass.\n"
    "tensor at position 13:\n"
    "saved metadata: {'shape': torch.Size([1, 90, 8, 64]), 'dtype': torch.bfloat16}\n"
    "recomputed metadata: {'shape': torch.Size([1, 180, 8, 64]), 'dtype': torch.bfloat16}"
)
ADAPTERS = """\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model

model = AutoModelForCausalLM.from_pretrained(name)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
options = TrainingArguments(output_dir="out", gradient_checkpointing=True)
Trainer(model=model, args=options, train_dataset=rows).train()
"""
SETTINGS = f"""\
The settings of my run:

base: some-7b
adapter: lora
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: true

and it stops with
{NO_GRAPH}
"""
COPIES = """\
        learner = meta.clone()
        inner = criterion(learner(x), y)
        for name, weight in learner.trunk.named_parameters():
            weight.requires_grad = False
        learner.adapt(inner)
"""
WRAPPED = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
disc = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.LazyLinear(1))
disc = DDP(disc.to(dist.get_rank()), device_ids=[dist.get_rank()])
for real, fake in loader:
    loss = disc(fake).mean() - disc(real).mean()
    loss.backward()
"""
FEATURES = """\
class Probe(nn.Module):
    @torch.inference_mode()
    def features(self, x):
        return self.backbone.tokens(x)

    def forward(self, x):
        return self.head(self.features(x))
"""
COMPILED = """\
Eager this runs. With both modules through torch.compile the second backward stops:

RuntimeError: Trying to backward through the graph a second time

import torch
from torch import nn

maker, judge = nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))
drawn = maker(torch.randn(8, 1))
judge(drawn.detach()).mean().backward()
judge(drawn).mean().backward()
"""
QUESTION = """\
With gradient checkpointing switched on all gradients of my LoRA layers are None.
Without it everything trains. How can I use both?
"""

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def asked(service: Service, script: str = "", traceback: str = "") -> Findings:
    return await service.ask(DiagnosisRequest(script=script, traceback=traceback), RUNNING)


def forms(found: Findings) -> dict[str, str]:
    """Every form in which findings are read, by its name."""
    now = datetime.now(UTC)
    whole = Diagnosis(
        **found.model_dump(),
        id="x",
        url="http://test/d/x",
        created_at=now,
        expires_at=now + timedelta(days=1),
        status="done",
    )
    return {
        "summary": found.summary,
        "brief": brief_of(whole).summary,
        "markdown": as_markdown(whole),
        "short": as_short_markdown(whole),
    }


KNOWN = {
    "adapters under a trainer": (ADAPTERS, NO_GRAPH, "use_reentrant", 6),
    "settings beside the message": ("", SETTINGS, "use_reentrant: true", None),
    "ready twice, the message alone": ("", READY, "use_reentrant=False", None),
    "recomputed, the message alone": ("", RECOMPUTED, "use_cache=False", None),
    "buffers that DDP broadcasts": (WRAPPED, CHANGED, "broadcast_buffers=False", 8),
    "flags of clones": (COPIES, FLAGS, "`.detach()`", 4),
    "features of a part of a model": (FEATURES, INFERENCE, "torch.no_grad()", 2),
    "a compiler in words": (COMPILED, "", "leave that part uncompiled", None),
    "a question in words": (QUESTION, "", "enable_input_require_grads", None),
}


@pytest.mark.parametrize(("script", "message", "remedy", "line"), KNOWN.values(), ids=KNOWN)
async def test_the_remedy_is_the_headline_in_every_form(
    service: Service, script: str, message: str, remedy: str, line: int | None
) -> None:
    found = await asked(service, script, message)
    said = forms(found)
    assert {name for name, text in said.items() if remedy not in text} == set()
    assert wording.state(found).words != "We need one more thing"
    assert found.answer is not None
    assert (found.answer.location and found.answer.location.line) == line
    assert len(said["short"].encode()) <= 1000


async def test_nothing_is_asked_for_that_was_sent(service: Service) -> None:
    for script, message, _, _ in KNOWN.values():
        found = await asked(service, script, message)
        assert "Only a message" not in found.summary
        asks = [step.text for step in found.next if step.field == "traceback"]
        assert not asks


async def test_a_parameter_that_the_message_names_is_not_asked_for(service: Service) -> None:
    found = await asked(service, "", READY)
    assert "layers.3.up.weight" in found.summary
    assert "which tensor is meant" not in found.summary


async def test_no_tale_of_old_versions_comes_with_an_in_place_error(service: Service) -> None:
    found = await asked(service, "x[:, 0] = x[:, 0] * scale\nloss = (x ** 2).sum()\n", CHANGED)
    assert "torch 1." not in " ".join([found.summary, *(step.text for step in found.next)])


async def test_a_wrapped_model_is_no_recurrent_state(service: Service) -> None:
    found = await asked(service, WRAPPED, CHANGED)
    said = " ".join([found.summary, *(step.text for step in found.next)])
    assert "is an input of the call that makes it" not in said


async def test_grad_mode_inside_of_inference_mode_is_not_advised(service: Service) -> None:
    found = await asked(service, FEATURES, INFERENCE)
    said = " ".join([found.summary, *(step.text for step in found.next)])
    assert "enable_grad" not in said
    assert "no graph" not in said


COMPLEX = """\
import torch
w = torch.nn.Parameter(torch.randn(4, dtype=torch.cfloat))
torch.fft.fft(w).sum().backward()
"""
REDUCED = """\
import torch
import torch.distributed as dist
from torch import nn
dist.init_process_group("gloo")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.used(x)
net = nn.parallel.DistributedDataParallel(Net())
for step in range(3):
    net(torch.ones(4, 3)).sum().backward()
"""


@pytest.mark.parametrize(
    ("script", "title", "named", "remedy"),
    [
        (COMPLEX, "Backward from a complex number", "", "take a real number of it"),
        (
            REDUCED,
            "Parameters that the loss does not depend on",
            "`spare.weight`",
            "find_unused_parameters=True",
        ),
    ],
)
async def test_a_cause_without_a_fix_says_what_to_do(
    service: Service, script: str, title: str, named: str, remedy: str
) -> None:
    found = await asked(service, script)
    (cause,) = found.causes
    assert cause.title == title
    assert named in cause.explanation
    assert remedy in cause.remedy


async def test_losses_that_share_no_graph_are_not_blamed(service: Service) -> None:
    found = await asked(service, COMPILED)
    assert found.causes == []
    assert "share" not in " ".join([found.summary, *(step.text for step in found.next)])


async def test_a_reason_does_not_contradict_the_code(service: Service) -> None:
    script = """\
import torch


def bend(height, where):
    slope, = torch.autograd.grad(height.sum(), where, create_graph=True)
    return torch.autograd.grad(slope.sum(), where)[0]


where = torch.linspace(0, 1, 5, requires_grad=True)
bend(where ** 3, where)
bend(2 * where, where)
"""
    found = await asked(service, script)
    first = found.causes[0]
    assert "constant" in first.explanation
    assert "without a graph of their own" not in first.explanation
    assert found.patches[0].verification.status == "passed"


async def test_a_message_that_says_nothing_of_the_cause_asks_for_more(service: Service) -> None:
    found = await asked(service, "", "RuntimeError: shape '[3, 4]' is invalid for input of size 5")
    assert found.answer is None


async def test_lines_of_code_within_sentences_are_read(service: Service) -> None:
    text = """\
Two lines of my edit script stop with
RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.
They are:
layers[row].weight[:, slot] -= 0.5 * taken
layers[row].weight[:, slot] += 0.5 * given

How should I write this?
"""
    found = await asked(service, "", text)
    assert (found.causes[0].pattern, found.causes[0].location.line) == ("inplace-leaf", 4)
    assert "no_grad" in found.patches[0].diff


async def test_one_of_several_causes_that_are_as_likely_is_not_what_the_error_says(
    service: Service,
) -> None:
    frames = (
        'Traceback (most recent call last):\n  File "run.py", line 9, in <module>\n'
        '    trainer.train()\n  File "/opt/env/lib/python3.12/site-packages/torch/_functorch/'
        '_aot_autograd/runtime_wrappers.py", line 2198, in backward\n    ctx.saved_tensors,\n'
        "RuntimeError: Trying to backward through the graph a second time\n"
    )
    found = await asked(service, "", frames)
    assert "compiled region" in found.summary
    assert "The error says" not in found.summary
