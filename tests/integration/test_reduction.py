"""A patch that passed is reduced to what it needs, in the real sandbox."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.request.causes import Candidate
from app.repair.original import Original
from app.repair.reduction import reduce
from app.repair.search import try_out
from sandbox.protocol import Job
from tests.recorded.box import RecordedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

SQUARED = textwrap.dedent("""\
    import torch
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(9):
        hidden = net(torch.ones(4, 2))
        out = hidden.exp()
        loss = (out * out).mean()
        out += 1
        if step > 5:
            hidden = out
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""")
NEEDED = SQUARED.replace("out += 1", "out = out + 1")


async def reduced(sandbox: RecordedSandbox, script: str, patched: str) -> str | None:
    async with sandbox.session() as session:
        failing = await session.run(Job(files={"train.py": script}, gradients=True))
        original = Original({"train.py": script}, "train.py", failing, session, 20.0)
        (winner,) = await try_out(
            original, [[Candidate("", "patch", "A patch", {"train.py": patched}, "", 0)]]
        )
        assert winner.status == "passed"
        least = await reduce(original, winner)
        original.close()
    return least.candidate.files["train.py"] if least is not None else None


async def test_copies_that_nobody_needs_are_left_out(sandbox: RecordedSandbox) -> None:
    patched = NEEDED.replace("ones(4, 2))", "ones(4, 2)).clone()")
    patched = patched.replace("(out * out)", "(out.clone() * out)")
    assert await reduced(sandbox, SQUARED, patched) == NEEDED


async def test_what_is_needed_stays(sandbox: RecordedSandbox) -> None:
    assert await reduced(sandbox, SQUARED, NEEDED) is None


async def test_what_only_a_branch_needs_stays(sandbox: RecordedSandbox) -> None:
    patched = NEEDED.replace("hidden = out", "hidden = out.clone()")
    assert await reduced(sandbox, SQUARED, patched) is None


async def test_where_no_gradients_are_compared_all_of_it_stays(sandbox: RecordedSandbox) -> None:
    rows = "import torch\nrows = torch.rand(3, 2, requires_grad=True)\nkept = []\n"
    rows += "for row in rows:\n    row[0].clamp_(max=0.5)\n    kept.append(0)\n"
    patched = rows.replace("    row[0]", "    row = row.clone()\n    row[0]")
    patched = patched.replace("kept.append(0)", "kept.append(row)")
    assert await reduced(sandbox, rows, f"{patched}rows = torch.stack(kept)\n") is None
