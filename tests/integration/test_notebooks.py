"""Notebooks from what was sent to the patched notebook, through the real reader and sandbox."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from analyzers.notebooks.notebook import to_project
from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service
from sandbox.protocol import Job
from tests.case_files import Case, load_cases
from tests.environment import SCRIPTS_PYTHON
from tests.notebooks import code, notebook, sources
from tests.plain_runs import Given, PlainRuns
from tests.recorded.box import RecordedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGAIN = "RuntimeError: Trying to backward through the graph a second time (or directly access …)"
CASES = [case for case in load_cases() if case.folder == "notebook_rerun"]

Ask = Callable[..., Awaitable[Findings]]


@pytest.fixture
def ask(service: Service) -> Ask:
    async def asked(script: str, **fields: str) -> Findings:
        fields = {"filename": "train.ipynb", **fields}
        request = DiagnosisRequest.model_validate({"script": script, **fields})
        return await service.ask(request, RUNNING)

    return asked


def name(case: Case) -> str:
    return case.entry


SETUP = """\
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)"""
FORWARD = "loss = (model(x) - y).pow(2).mean()"
STEP = "optimizer.zero_grad()\nloss.backward()\noptimizer.step()"


@pytest.mark.parametrize("case", [c for c in CASES if not c.healthy], ids=name)
async def test_a_rerun_is_named_and_its_patch_is_accepted(
    case: Case, ask: Ask, plain: PlainRuns
) -> None:
    found = await ask(case.stripped, filename=case.entry)
    assert found.verdict == "confirmed"
    cause, patch = found.causes[0], found.patches[0]
    assert cause.pattern == "notebook-rerun"
    assert cause.carrier is not None
    assert cause.carrier.name in case.carriers
    assert cause.boundary is not None
    assert cause.boundary.kind == "cell"
    assert patch.verification.status == "passed"
    patched = Given({case.entry: patch.script}, case.entry)
    assert plain.outcome(patched, case.fixed).objections == []


@pytest.mark.parametrize("case", [c for c in CASES if c.healthy], ids=name)
async def test_a_healthy_notebook_is_reported_as_such(case: Case, ask: Ask) -> None:
    found = await ask(case.stripped, filename=case.entry)
    assert (found.verdict, found.causes, found.patches) == ("healthy", [], [])


async def test_cells_are_named_and_only_changed_cells_change(ask: Ask, tmp_path: Path) -> None:
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# Étude"]}
    text = notebook(
        title,
        code("%matplotlib inline\n" + SETUP, 1),
        code(FORWARD, 2),
        code(STEP, 4, AGAIN),
    )
    found = await ask(text)
    cause, patch = found.causes[0], found.patches[0]
    assert cause.location.cell == "cell 4, line 2"
    assert cause.location.code == "loss.backward()"
    assert cause.created is not None
    assert cause.created.cell == "cell 3, line 1"
    assert "cell 4, line 2" in cause.explanation
    assert "cell 4, line 2" in found.summary
    before, after = sources(text), sources(patch.script)
    assert after == [before[0], before[1], "", f"{FORWARD}\n{STEP}"]
    assert _without_sources(patch.script) == _without_sources(text)
    script = to_project(text)[0]
    (tmp_path / "train.py").write_text(script)
    _git_apply(patch.diff, tmp_path)
    patched = (tmp_path / "train.py").read_text()
    assert patched.splitlines() == [
        line for line in to_project(patch.script)[0].splitlines() if line
    ]


def _without_sources(text: str) -> list[dict[str, object]]:
    cells = json.loads(text)["cells"]
    return [{key: value for key, value in cell.items() if key != "source"} for cell in cells]


def _git_apply(diff: str, home: Path) -> None:
    subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=home, check=True)


IPYTHON = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 2
      1 optimizer.zero_grad()
----> 2 loss.backward()
      3 optimizer.step()

File ~/venv/lib/python3.11/site-packages/torch/_tensor.py:648, in Tensor.backward(self, gradient)
--> 648 torch.autograd.backward(

RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors)
"""


@pytest.mark.parametrize("count", [7, 5, None], ids=["same run", "an earlier run", "cleared"])
async def test_a_traceback_from_ipython_names_the_cell(ask: Ask, count: int | None) -> None:
    counts = (3, 4) if count else (None, None)
    cells = [code(SETUP, counts[0]), code(FORWARD, counts[1]), code(STEP, count)]
    found = await ask(notebook(*cells), traceback=IPYTHON)
    assert found.error is not None
    assert found.error.location is not None
    assert (found.error.location.file, found.error.location.code) == ("train.py", "loss.backward()")
    assert found.verdict == "confirmed"
    assert found.causes[0].pattern == "notebook-rerun"
    assert found.patches[0].verification.status == "passed"


async def test_without_an_error_a_gap_in_the_counts_means_nothing(ask: Ask) -> None:
    found = await ask(notebook(code(SETUP, 1), code(FORWARD, 2), code(STEP, 9)))
    assert found.verdict == "healthy"


async def test_an_interrupted_cell_is_no_fault(ask: Ask) -> None:
    text = notebook(code(SETUP, 1), code(f"{FORWARD}\n{STEP}", 4, "KeyboardInterrupt: "))
    found = await ask(text)
    assert (found.verdict, found.error) == ("healthy", None)


async def test_cells_that_were_never_run_are_left_out(ask: Ask) -> None:
    scratch = code("loss = forgotten_name")
    text = notebook(code(SETUP, 1), code(FORWARD, 2), scratch, code(STEP, 4, AGAIN))
    found = await ask(text)
    assert (found.verdict, found.causes[0].pattern) == ("confirmed", "notebook-rerun")
    assert sources(found.patches[0].script)[2:] == [sources(text)[2], f"{FORWARD}\n{STEP}"]


async def test_an_error_that_no_order_shows_is_not_reproduced(ask: Ask) -> None:
    text = notebook(code(SETUP, 1), code(f"{FORWARD}\n{STEP}", 5, AGAIN))
    found = await ask(text)
    assert (found.verdict, found.causes) == ("unreproduced", [])


async def test_what_fails_from_top_to_bottom_is_no_rerun(ask: Ask) -> None:
    text = notebook(code(SETUP, 1), code(FORWARD, 2), code(f"{STEP}\nloss.backward()", 3, AGAIN))
    found = await ask(text)
    assert found.verdict == "confirmed"
    assert found.causes[0].pattern == "duplicate-backward"
    assert sources(found.patches[0].script)[2].count("loss.backward()") == 1


async def test_a_state_that_the_cell_itself_carries_is_cut_not_moved(ask: Ask) -> None:
    setup = SETUP.replace("Linear", "RNNCell") + "\nstate = torch.zeros(8, 1)"
    step = "state = model(x, state)\nloss = (state - y).pow(2).mean()\n" + STEP
    found = await ask(notebook(code(setup, 1), code(step, 3, AGAIN)))
    assert found.verdict == "confirmed"
    assert "notebook-rerun" not in {cause.pattern for cause in found.causes}
    assert found.causes[0].carrier is not None
    assert found.causes[0].carrier.name == "state"
    assert found.patches[0].verification.status == "passed"
    assert sources(found.patches[0].script)[1] == f"state = state.detach()\n{step}"


async def test_one_line_that_walks_many_times_is_no_rerun(ask: Ask) -> None:
    """A marked script in which a helper walks one loss again and again, in one run of its cell."""
    body = textwrap.indent(STEP, " " * 8)
    helper = f"def train(steps):\n    for _ in range(steps):\n{body}"
    script = f"# %%\n{SETUP}\n\n# %%\n{FORWARD}\n\n# %%\n{helper}\n\n# %%\ntrain(3)\n"
    found = await ask(script, filename="train.py")
    assert found.verdict == "confirmed"
    assert "notebook-rerun" not in {cause.pattern for cause in found.causes}


async def test_reading_alone_follows_the_counts(ask: Ask) -> None:
    text = notebook(code(SETUP, 1), code(FORWARD, 2), code(STEP, 4, AGAIN))
    found = await ask(text, run="never")
    assert found.verdict == "likely"
    assert found.causes[0].pattern == "notebook-rerun"
    assert sources(found.patches[0].script)[2] == f"{FORWARD}\n{STEP}"


async def test_the_sandbox_runs_spans_as_one_module(sandbox: RecordedSandbox) -> None:
    """In order and as often as listed; lines keep their numbers, one frame runs them all."""
    script = "x = 1\nfrom __future__ import annotations\nprint(x, __name__)\nx = x / 0\nx = 5\n"
    spans = [(1, 2), (3, 3), (5, 5), (2, 3), (4, 4)]
    for mode in ("plain", "trace"):
        job = Job.model_validate({"files": {"train.py": script}, "spans": spans, "mode": mode})
        result = await sandbox.run(job)
        assert result.stdout_tail.split("\n")[:2] == ["1 __main__", "5 __main__"]
        assert result.raised is not None
        assert [(f.line, f.function) for f in result.raised.frames] == [(4, "<module>")]


@pytest.mark.parametrize(
    "line", ["display(3)", "get_ipython().run_line_magic('matplotlib', 'inline')\nprint(3)"]
)
async def test_what_ipython_has_everywhere_has_a_stub(sandbox: RecordedSandbox, line: str) -> None:
    result = await sandbox.run(Job(files={"train.py": line}))
    assert (result.status, result.stdout_tail) == ("finished", "3\n")
    assert result.trace is not None
    assert [stub.name for stub in result.trace.stubs] == ["IPython"]


async def test_ipython_that_is_imported_is_the_real_one_or_a_stub(
    sandbox: RecordedSandbox,
) -> None:
    script = "from IPython.display import clear_output, display\nclear_output()\ndisplay(3)"
    result = await sandbox.run(Job(files={"train.py": script}))
    assert (result.status, result.stdout_tail[-2:]) == ("finished", "3\n")
    assert result.trace is not None
    own = Path(sys.executable) == SCRIPTS_PYTHON  # in the sandbox as well as here
    installed = own and importlib.util.find_spec("IPython") is not None
    assert [s.name for s in result.trace.stubs] == ([] if installed else ["IPython"])
