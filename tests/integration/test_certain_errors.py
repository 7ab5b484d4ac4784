"""Errors in the order of certainty: what is no Python, before what it might have been."""

from __future__ import annotations

import pytest

from app.present import wording
from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import READING, RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING_COLON = """\
import torch
for step in range(3)
    loss = torch.ones(1, requires_grad=True).sum()
    loss.backward()
"""
POST = """\
Hello, why does this fail?

    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    loss.backward()
    loss.backward()

Thanks a lot!
"""
QUESTION = """\
# Why do you detach the hidden state?

y = net(x, h.detach()
"""
SYNTHESIZED = """\
import torch

rows = [[float(v) for v in line.split(",")] for line in open("rows.csv")]
x = torch.tensor(rows)
print(x.unknown_attribute_of_tensors)
"""
SYNTHESIZED_LOOP = """\
import torch
from torch import nn

rows = [[float(v) for v in line.split(",")] for line in open("prices.csv")]
data = torch.tensor(rows)
rnn, h = nn.GRU(len(rows[0]), 5, batch_first=True), None
for step in range(10):
    y, h = rnn(data[None], h)
    y.pow(2).mean().backward()
"""


async def found(service: Service, script: str, mode: str = READING) -> Findings:
    return await service.ask(DiagnosisRequest(script=script), mode)


@pytest.mark.parametrize("mode", [READING, RUNNING])
async def test_a_syntax_error_comes_first(service: Service, mode: str) -> None:
    findings = await found(service, MISSING_COLON, mode)
    assert findings.verdict == "inconclusive"
    assert findings.error is not None
    assert findings.error.location is not None
    assert (findings.error.exception, findings.error.message) == ("SyntaxError", "expected ':'")
    assert (findings.error.location.line, findings.error.location.column) == (2, 21)
    assert wording.state(findings).words == "Syntax error in line 2"
    assert findings.summary == ("Syntax error in `train.py`, line 2, column 21: expected ':'.")
    assert [step.kind for step in findings.next] == ["lines"]


async def test_of_a_syntax_error_no_run_of_what_was_repaired_is_shown(service: Service) -> None:
    findings = await found(
        service, "import torch\nx = torch.ones(3, requires_grad=True\nx.sum().backward()\n", RUNNING
    )
    assert wording.state(findings).words == "Syntax error in line 2"
    assert (findings.run, findings.world, findings.patches) == (None, [], [])
    assert wording.versions(findings).endswith("nothing was run.")


async def test_a_syntax_error_next_to_another_fault_comes_first(service: Service) -> None:
    broken = POST.split("\n\n")[1] + "\nprint('done'\n"
    findings = await found(service, "\n".join(line.strip() for line in broken.splitlines()) + "\n")
    assert findings.summary.startswith("Syntax error in `train.py`, line 5")
    assert findings.causes


async def test_a_question_is_answered_next_to_a_syntax_error(service: Service) -> None:
    findings = await found(service, QUESTION)
    assert "detach" in findings.summary.partition("Syntax error in `train.py`")[0]
    (place, *answers) = findings.next
    assert place.text.startswith("Correct line")
    assert answers


async def test_text_that_is_no_program_is_said_to_be_none(service: Service) -> None:
    findings = await found(service, "hello world, this is not a program at all\n")
    assert findings.summary == "`train.py` is not a Python program: no line of it is code."
    assert wording.state(findings).words == "Not a Python program"
    assert [step.field for step in findings.next] == ["script"]


async def test_frames_without_their_last_line_are_said_to_be_cut_off(service: Service) -> None:
    frames = "Traceback (most recent call last):\n"
    frames += '  File "/srv/fit.py", line 9, in run\n    cost.backward()\n'
    findings = await found(service, frames + '  File "/usr/lib/python3.11/site-pack\n')
    assert findings.summary == (
        "The traceback ends before its last line, which says what was raised."
    )
    assert findings.next[0].text.startswith("Send the traceback's last line")
    whole = await found(service, f"{frames}ValueError: too many rows\n")
    assert "ends before its last line" not in whole.summary


async def test_a_picture_of_an_error_is_asked_for_as_text(service: Service) -> None:
    findings = await found(service, "It stops here, thanks\n![shot](https://example.org/a.png)\n")
    assert findings.summary == "No text of an error was sent; what a picture shows is not read."
    assert "as text" in findings.next[0].text


async def test_words_of_an_error_without_its_message_are_said_to_be_that(
    service: Service,
) -> None:
    findings = await found(service, "运行到一半会报错，请问怎么办\n")
    assert findings.summary.startswith("The words speak of an error")
    assert "traceback as text" in findings.next[0].text


async def test_a_question_in_words_alone_is_no_faulty_program(service: Service) -> None:
    findings = await found(service, "The gradients of my embedding are None, why?\n")
    assert wording.state(findings).words == "Known question: its usual causes"
    assert findings.summary.startswith("A parameter gets no gradient")


async def test_words_around_code_are_no_syntax_error(service: Service) -> None:
    findings = await found(service, POST)
    assert findings.error is None or findings.error.exception != "SyntaxError"
    assert findings.causes


async def test_nor_where_static_analysis_suggests_a_cause(service: Service) -> None:
    findings = await found(service, SYNTHESIZED_LOOP, RUNNING)
    assert [cause.pattern for cause in findings.causes][:1] == ["recurrent-state"]
    assert findings.error is None
    assert findings.run is not None
    assert "ValueError" in (findings.run.exception or "")


async def test_an_error_of_what_was_synthesized_is_not_the_user_s(service: Service) -> None:
    findings = await found(service, SYNTHESIZED, RUNNING)
    assert findings.error is None
    assert findings.run is not None
    assert "rows.csv" in str(findings.world)
    assert "AttributeError" not in findings.summary
