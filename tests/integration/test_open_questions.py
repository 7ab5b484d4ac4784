"""What is said where nothing could be shown: never an error that nobody asked about."""

from __future__ import annotations

import pytest

from app.present.wording import state
from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service
from tests.unit.test_paste import sent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def asked(service: Service, script: str, traceback: str = "") -> Findings:
    request = DiagnosisRequest(script=script, traceback=traceback)
    return await service.ask(request, RUNNING)


async def test_a_fragment_gets_its_lines_and_a_next_step(service: Service) -> None:
    found = await asked(service, sent("lora"))
    assert "NameError" not in found.summary
    assert "without a graph" in found.summary
    assert "enable_input_require_grads" in found.summary
    assert found.next[0].kind == "run_local"
    assert found.next[0].value == "gradmend run -- python train.py"


async def test_an_error_that_the_script_does_not_raise_brings_no_old_versions(
    service: Service,
) -> None:
    script = "import torch\n\nw = torch.ones(3, requires_grad=True)\n(w * 2)[0].backward()\n"
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation"
    )
    found = await asked(service, script, message)
    assert found.verdict == "unreproduced"
    assert "torch 1." not in found.summary


async def test_a_patch_that_passed_leaves_nothing_open(service: Service) -> None:
    found = await asked(service, sent("thread_fenced"))
    assert found.verdict == "confirmed"
    assert found.patches[0].verification.status == "passed"
    assert found.next == []
    assert "memory.detach()" in found.patches[0].diff
    assert found.patches[0].script.startswith("# My GRU forgets")


CAUGHT = """\
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
try:
    {call}
except RuntimeError as error:
    print(type(error).__name__)
"""


async def test_an_error_that_the_script_catches_is_not_healthy(service: Service) -> None:
    found = await asked(service, CAUGHT.format(call="torch.autograd.grad(w.sum(), [loss])"))
    assert found.verdict == "inconclusive"
    assert "line 7 of `train.py` raised an error that the script catches" in found.summary


async def test_what_is_caught_and_works_is_healthy(service: Service) -> None:
    found = await asked(service, CAUGHT.format(call="(w * w).sum().backward()"))
    assert found.verdict == "healthy"


async def test_a_silent_fault_does_not_answer_another_error(service: Service) -> None:
    script = (
        "import torch\n\nw = torch.ones(3, requires_grad=True)\nkept = []\n"
        "for x in torch.randn(40, 3):\n"
        "    loss = (w * x).sum()\n    kept.append(loss)\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.01 * w.grad\n"
        "raise SystemExit(open('rows.csv').read())\nkept[0].numpy()\n"
    )
    error = (
        'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n'
        "    kept[0].numpy()\n"
        "RuntimeError: Can't call numpy() on Tensor that requires grad.\n"
    )
    found = await asked(service, script, error)
    assert found.causes[0].pattern == "numpy-on-grad"


async def test_an_error_that_does_not_come_is_still_what_is_asked(service: Service) -> None:
    script = (
        "import torch\nfrom torch import nn\n\nrnn, head = nn.GRU(4, 8), nn.Linear(8, 1)\n"
        "state = None\nfor x in [torch.randn(5, 2, 4)]:\n    out, state = rnn(x, state)\n"
        "    head(out).mean().backward()\n"
    )
    found = await asked(
        service, script, "RuntimeError: Trying to backward through the graph a second time"
    )
    assert found.verdict == "unreproduced"
    assert found.summary.startswith(
        "The first place to look at: line 7: `state` is an input of the call"
    )
    assert "an earlier backward had already freed" in found.summary
    assert "ran clean here (1 backward call)" in found.summary


async def test_an_error_of_a_transform_that_does_not_come_is_not_reproduced(
    service: Service,
) -> None:
    script = (
        "import torch\n\n\ndef head(x):\n    return x[0:2]\n\n\n"
        "torch.vmap(torch.func.jacrev(head))(torch.randn(3, 5))\n"
    )
    error = "RuntimeError: vmap: It looks like you're calling .item() on a Tensor."
    found = await asked(service, script, error)
    assert found.verdict == "unreproduced"
    assert "send the part that trains" not in found.summary


async def test_a_question_about_a_healthy_script_has_its_line(service: Service) -> None:
    script = (
        "# Why is my gradient NaN?\n\nimport torch\n\n"
        "x = torch.tensor([0.0, 4.0], requires_grad=True)\n"
        "torch.where(x > 1, torch.sqrt(x), x).sum().backward()\nprint(x.grad)\n"
    )
    found = await asked(service, script)
    assert found.verdict == "healthy"
    assert "line 6: `torch.where` drops the value" in found.summary
    untitled = await asked(service, script.partition("\n\n")[2])
    assert "torch.where" not in untitled.summary


INNER = """\
```python
grads = torch.autograd.grad(loss, learner.parameters(), create_graph=True)
for w, g in zip(learner.parameters(), grads):
    w.data -= rate * g
```
"""


async def test_an_error_of_what_was_synthesized_answers_no_question(service: Service) -> None:
    found = await asked(service, f"My meta model never learns.\n\n{INNER}")
    assert "line 6: `w.data` is written outside of the graph" in found.summary
    assert "the script raises" not in found.summary
    assert "could not be synthesized so that it runs (RuntimeError: grad can" in found.summary


LACKING = {
    "input": "import torch\n\nname = input()\ntorch.load(name).backward()\n",
    "file": "import urllib.request\n\nurllib.request.urlopen('http://127.0.0.1:9/data').read()\n",
}


@pytest.mark.parametrize("kind", LACKING)
async def test_what_a_run_lacked_is_a_next_step(service: Service, kind: str) -> None:
    found = await asked(service, LACKING[kind])
    assert kind in [step.kind for step in found.next]
    assert state(found).words == "We need one more thing"


async def test_no_error_is_spoken_of_where_none_was_sent(service: Service) -> None:
    found = await asked(service, LACKING["input"])
    assert "to its end" in found.summary
    assert "the error" not in found.summary
    found = await asked(service, "import torch\n\nraise ValueError('No GPU here.')\n")
    assert "No GPU here. " in found.summary
    assert ".." not in found.summary
