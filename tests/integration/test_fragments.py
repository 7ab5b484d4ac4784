"""Parts of programs, as people paste them: completed, they raise the error of the whole program.

Each program under `tests/fragments` runs as it stands and raises what it says: that proves its
labels. What it marks between two comments is all that the service gets, with the error's last
line.
"""

from __future__ import annotations

import pytest
import pytest_asyncio

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from benchmarks.fragments import Fragment, all_by_running, pasted, tracebacks

pytestmark = pytest.mark.asyncio(loop_scope="session")

FRAGMENTS = list(pasted())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asked(service: Service) -> list[tuple[Fragment, str]]:
    """Every fragment with the traceback of its program."""
    errors = await tracebacks([fragment.case for fragment in FRAGMENTS], service.sandbox)
    return list(zip(FRAGMENTS, errors, strict=True))


def last_line(error: str) -> str:
    lines = error.strip().splitlines()
    return next(line for line in reversed(lines) if line.startswith("RuntimeError"))


async def test_every_program_raises_what_it_says(asked: list[tuple[Fragment, str]]) -> None:
    assert len(asked) >= 40
    for fragment, error in asked:
        assert fragment.case.raises is not None
        assert fragment.case.raises in error, fragment.case.name
        assert fragment.lines, fragment.case.name


async def test_the_error_shows_in_a_completed_run(
    asked: list[tuple[Fragment, str]], service: Service
) -> None:
    questions = [(fragment, last_line(error)) for fragment, error in asked]
    answers = await all_by_running(questions, service.sandbox, service.reader)
    wrong = [
        (fragment.case.name, answer)
        for (fragment, _), answer in zip(questions, answers, strict=True)
        if not answer.seen
        or answer.pattern not in (fragment.case.pattern, *fragment.case.also)
        or answer.line not in fragment.lines
    ]
    assert wrong == []


CLEAN = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""
LOSSES = """\
errD.backward()
optD.step()
errG.backward()
optG.step()
"""
UNRUNNABLE = """\
with open_archive("a") as archive:
    raise archive.problem("no")
"""


async def test_a_clean_world_is_not_called_healthy(service: Service) -> None:
    requests = [DiagnosisRequest(script=text) for text in (CLEAN, LOSSES, UNRUNNABLE)]
    requests.append(DiagnosisRequest(script=CLEAN, traceback=REUSED))
    answers = [await service.ask(request, RUNNING) for request in requests]
    assert [found.verdict for found in answers] == ["inconclusive"] * 3 + ["unreproduced"]
    for found in answers:
        assert found.causes == []
        assert "NameError" not in found.summary
        assert found.basis == "completed"
        assert found.world


EMPTY = "AttributeError: 'NoneType' object has no attribute 'detach'"
SIZES = "sizes = torch.stack([x.grad.detach() for x in seen['points']])\n"


async def test_a_gradient_is_empty_where_nothing_that_was_sent_calls_backward(
    service: Service,
) -> None:
    found = await service.ask(DiagnosisRequest(script=f"It fails:\n\n{EMPTY}\n{SIZES}"), RUNNING)
    assert found.causes == []
    assert "`x.grad` is None" in found.summary


REUSED = "RuntimeError: Trying to backward through the graph a second time"
WHOLE = "import torch\nw = torch.ones(2, requires_grad=True)\nw.sum().backward()\nprint(netD)\n"


async def test_a_script_that_walks_as_it_was_sent_is_not_completed(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=WHOLE), RUNNING)
    assert found.basis == "run"
    assert found.world == []


LACKING = """\
import torch
def derived(y, x):
    return torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.rand(8, 1, requires_grad=True)
for step in range(20):
    slope = derived(net(x).tanh(), x)
    loss = (derived(slope, x) - load(x)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_what_lacks_a_name_behind_its_fault_is_completed_for_its_patch(
    service: Service,
) -> None:
    found = await service.ask(DiagnosisRequest(script=LACKING), RUNNING)
    assert found.causes[0].pattern == "detached-loss"
    patch = found.patches[0]
    assert patch.verification.status == "passed"
    assert "return torch.autograd.grad(y.sum(), x, create_graph=True)[0]" in patch.script
    assert any("`load`" in assumed.text for assumed in found.world)


LEFT_OUT = """\
memory = (
    Node(memory[0].data, track=True),
    Node(memory[1].data, track=True),
)
for segment in segments:
    for step in range(len(segment)):
        # the forward, one step at a time
        ...
    cost.backward()
"""


async def test_what_dots_leave_out_of_a_loop_is_completed_for_an_engine_that_is_not_shown(
    service: Service,
) -> None:
    error = "Exception: a value of this chain was backpropagated already, not again"
    request = DiagnosisRequest(script=LEFT_OUT, traceback=error)
    found = await service.ask(request, RUNNING)
    assert found.basis == "completed"
    first, patch = found.causes[0], found.patches[0]
    assert (first.pattern, first.engine) == ("recurrent-state", "custom")
    assert patch.verification.status == "passed"
    assert "    memory = tuple(Node(t.data, track=True) for t in memory)\n" in patch.script
    assert any("`...`" in assumed.text for assumed in found.world)


async def test_a_loop_that_cuts_its_state_is_not_said_to_carry_it(service: Service) -> None:
    first, rest = LEFT_OUT.split(")\nfor", 1)
    head, body = rest.split("\n", 1)
    inside = "\n".join(f"    {line}" for line in f"{first})".splitlines())
    error = "Exception: a value of this chain was backpropagated already, not again"
    request = DiagnosisRequest(script=f"for{head}\n{inside}\n{body}", traceback=error)
    found = await service.ask(request, RUNNING)
    assert found.verdict == "unreproduced"
    assert not found.causes
    assert not found.patches
    assert "That is right here." in found.summary


KEPT_TOGETHER = """\
def gather(judge, rows):
    marks = judge(rows).squeeze(-1)
    return dict(seen=rows, aims=marks * 0.9 + 0.1)

judge = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(judge.parameters(), lr=0.1)
batch = gather(judge, harbour.rows(torch.ones(8, 3)))
for part in torch.arange(8).split(4):
    taken = {key: value[part] for key, value in batch.items()}
    loss = F.mse_loss(judge(taken["seen"]).squeeze(-1), taken["aims"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_structure_in_a_part_of_a_program_is_cut_part_by_part(service: Service) -> None:
    request = DiagnosisRequest(script=KEPT_TOGETHER, traceback=REUSED)
    found = await service.ask(request, RUNNING)
    assert found.basis == "completed"
    patch = found.patches[0]
    assert patch.verification.status == "passed"
    assert ".detach()" in patch.script
    assert "batch.detach()" not in patch.script
