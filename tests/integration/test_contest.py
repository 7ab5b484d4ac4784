"""Which candidates are run at all, in the real sandbox."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest

from analyzers.request.causes import Candidate
from app.repair.original import Original
from app.repair.search import try_out
from app.request.case import Case, read_case
from app.request.reader import Reader
from app.run.reproduce import observe
from app.schemas import DiagnosisRequest
from sandbox.protocol import Job, RunResult, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

CARRIED = textwrap.dedent("""\
    import torch
    cell = torch.nn.GRUCell(2, 3)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)
    state = torch.zeros(1, 3)
    for _ in range(9):
        state = cell(torch.ones(1, 2), state)
        loss = state.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""")
CUT = CARRIED.replace("ones(1, 2), state)", "ones(1, 2), state.detach())")
SQUARED = textwrap.dedent("""\
    import torch
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(9):
        out = net(torch.ones(4, 2)).exp()
        loss = (out * out).mean()
        out += 1
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""")
AGAIN = SQUARED.replace("out += 1", "out = out + 1")
GONE = SQUARED.replace("out += 1", "pass")
SKIPPED = SQUARED.replace("loss.backward()", "loss = loss.detach()")


class Counted:
    """A session that remembers which scripts were run."""

    def __init__(self, inner: Session) -> None:
        self._inner = inner
        self.ran: Counter[str] = Counter()

    async def run(self, job: Job) -> RunResult:
        result = await self._inner.run(job)
        self.ran[job.files["train.py"]] += 1
        return result


async def contest(session: Session, script: str, *groups: list[Candidate]) -> tuple[list[str], int]:
    """The titles of those that were judged, best first, and how many runs references took."""
    counted = Counted(session)
    failing = await session.run(Job(files={"train.py": script}, gradients=True))
    original = Original({"train.py": script}, "train.py", failing, counted, 20.0)
    trials = await try_out(original, groups)
    original.close()
    return [trial.candidate.title for trial in trials], counted.ran[script]


def candidate(title: str, text: str, rank: int = 0, *, last_resort: bool = False) -> Candidate:
    return Candidate("", title, title, {"train.py": text}, "", rank, last_resort=last_resort)


async def test_nothing_more_is_tried_behind_a_repair_that_leaves_nothing_to_wish_for(
    session: Session,
) -> None:
    first = [candidate("anew", AGAIN), candidate("gone", GONE, 1), candidate("skipped", SKIPPED, 2)]
    assert await contest(session, SQUARED, first) == (["anew"], 1)


async def test_a_candidate_that_fails_makes_room_for_the_next(session: Session) -> None:
    first = [candidate("skipped", SKIPPED), candidate("anew", AGAIN, 1)]
    titles, _ = await contest(session, SQUARED, first)
    assert titles == ["anew", "skipped"]


async def test_less_sure_causes_and_last_resorts_wait_for_the_surer_ones_to_fail(
    session: Session,
) -> None:
    retained = CARRIED.replace("backward()", "backward(retain_graph=True)")
    sure = [candidate("cut", CUT), candidate("retained", retained, 1, last_resort=True)]
    other = [candidate("other", CUT + "print()\n")]
    assert await contest(session, CARRIED, sure, other) == (["cut"], 2)


async def case_of(script: str, **more: object) -> Case:
    reader = Reader(workers=1)
    try:
        asked = DiagnosisRequest.model_validate({"script": script, **more})
        return await read_case(asked, reader)
    finally:
        await reader.close()


async def test_next_to_a_given_error_endless_training_has_its_time_and_no_more(
    session: Session,
) -> None:
    endless = AGAIN.replace("range(9)", "iter(int, 1)")
    case = await case_of(
        endless,
        traceback="RuntimeError: Trying to backward through the graph a second time",
        time_limit_s=4,
    )
    seen = await observe(case, session)
    assert seen.run is not None
    assert seen.run.trace is not None
    assert seen.run.trace.ended is not None  # it was not killed
    assert seen.run.status == "timed_out"  # the error may come later, so it is not called clean
    assert not seen.ran_clean


async def test_of_repairs_that_leave_the_gradients_the_same_the_shorter_comes_first(
    session: Session,
) -> None:
    longer = AGAIN.replace("(out * out)", "(out.clone() * out)")
    preferred = [candidate("longer", longer), candidate("anew", AGAIN, 1)]
    assert (await contest(session, SQUARED, preferred))[0] == ["anew", "longer"]
