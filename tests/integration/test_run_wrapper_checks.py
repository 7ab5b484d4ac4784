"""`gradmend run --check` around programs with parameters that get no gradient."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.diagnose import NoProgress
from app.schemas import Findings
from gradmend.run_wrapper import user_command
from gradmend.run_wrapper.diagnosing import FailedRun, seen_in, silent_findings_of
from gradmend.run_wrapper.exchange_dir import ExchangeDir
from gradmend.run_wrapper.rerun import Again
from tests.run_wrapper import gradmend

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]
PYTHON = sys.executable
PROGRAM = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(4, 4), nn.Linear(4, 1)
        self.head = nn.Linear(4, 4)
    def forward(self, x):
        {0}
        return self.out(h)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(12):
    optimizer.zero_grad()
    net(torch.ones(3, 4)).square().mean().backward()
    optimizer.step()
"""
UNUSED = "h = self.body(x)"
ASIDE = "h = self.body(x); self.kept = self.head(x)"
CUT_OFF = "h = self.body(x) + self.head(x).detach()"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (UNUSED, "nothing that ran uses it"),
        (ASIDE, "no backward call leads back to what uses it"),
    ],
)
def test_what_gets_no_gradient_is_named_with_its_line(
    tmp_path: Path, line: str, reason: str
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(line))
    ran = gradmend(["run", "--check", "--strict", "--", PYTHON, "train.py"], tmp_path)
    assert (ran.code, ran.stdout) == (0, "")
    assert ran.stderr == (
        "gradmend: checked 12 backward calls: 4 of the 6 parameters of the optimizer get a "
        f"gradient (not `net.head`, train.py:7: {reason}), graphs stay level, no fault was found\n"
    )


def _traced(line: str) -> FailedRun:
    """Return what the program with this line showed when it ran."""
    Path("train.py").write_text(PROGRAM.format(line))
    box = ExchangeDir({"mode": "trace", "silent": True, "seed": False, "limited": True})
    try:
        assert user_command.run([PYTHON, "train.py"], box.environment(dict(os.environ))) == 0
        (process,) = box.processes()
    finally:
        box.close()
    return seen_in(process)


async def _checked(line: str, *, patient: bool) -> tuple[Findings, int]:
    """Return what is found of it, and the number of repeated runs."""
    seen = _traced(line)
    again = Again([PYTHON, "train.py"], seen.process, seen.run, seen.sources)
    found = await silent_findings_of(seen, again, NoProgress(), patient=patient)
    return found, again.runs


async def test_nothing_is_run_again_for_what_may_be_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in (UNUSED, ASIDE):
        findings, runs = await _checked(line, patient=False)
        assert (findings.causes, runs) == ([], 0)
    findings, runs = await _checked(UNUSED, patient=True)
    assert (findings.causes, runs) == ([], 1)  # which looks where a graph is lost
    findings, runs = await _checked(CUT_OFF, patient=False)
    assert findings.patches[0].verification.status == "passed"
    assert runs > 1


BARE_TERM = """\
import torch
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(12):
    out = net(torch.ones(3, 4)).squeeze(1)
    total = torch.tensor([value.item() for value in out]).sum()
    total += out.square().mean()
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
"""


def test_who_is_patient_hears_of_a_term_that_trains_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BARE_TERM)
    command = ["--", PYTHON, "train.py"]
    brief = gradmend(["run", "--check", "--strict", *command], tmp_path)
    assert (brief.code, "no fault was found" in brief.stderr) == (0, True)
    patient = gradmend(["run", "--check", "--strict", "--patient", *command], tmp_path)
    assert (patient.code, "train.py:6" in patient.stderr) == (1, True)
    assert "A term of the loss has no graph behind it" in patient.stderr


IDLE = """\
import torch
from torch import nn

torch.manual_seed(0)
source, head = nn.Linear(4, 8), nn.Linear(8, 2)
rows, labels = torch.randn(64, 4), torch.randint(2, (64,))
first = torch.optim.Adam([*source.parameters(), *head.parameters()])
for step in range(8):
    first.zero_grad()
    nn.functional.cross_entropy(head(source(rows)), labels).backward()
    first.step()
target = nn.Linear(4, 8)
target.load_state_dict({key: value.clone() for key, value in source.state_dict().items()})
second = torch.optim.Adam(source.parameters())
for step in range(8):
    second.zero_grad()
    (target(rows + 1) - source(rows).detach()).pow(2).mean().backward()
    second.step()
"""


STILL = """\
import torch
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
for step in range(8):
    optimizer.zero_grad()
    net(torch.randn(4, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("program", "line"), [(IDLE, 18), (STILL, 7)], ids=["idle", "still"])
def test_an_optimizer_that_changes_nothing_is_named(
    tmp_path: Path, program: str, line: int
) -> None:
    (tmp_path / "train.py").write_text(program)
    ran = gradmend(["run", "--check", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert f"no step at train.py:{line} changes a parameter" in ran.stderr
    assert "every parameter" not in ran.stderr


DEAD = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())
nn.init.constant_(net[2].bias, -50.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    (net(torch.randn(64, 3)) - 1).square().mean().backward()
    optimizer.step()
"""


SATISFIED = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def size(x):
    return net(x).abs().mean()


for step in range(8):
    x = torch.randn(64, 3)
    margin = net(x) - 100 * size(x)
    optimizer.zero_grad()
    margin.relu().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (DEAD, "`net.2.bias`: no gradient but zeros, nothing that was seen says why"),
        (SATISFIED, "no gradient but zeros, every loss was zero"),  # and no `no_grad` is blamed
    ],
)
def test_gradients_of_zeros_are_not_called_healthy(tmp_path: Path, script: str, said: str) -> None:
    (tmp_path / "train.py").write_text(script)
    ran = gradmend(["run", "--check", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert said in ran.stderr
    assert "GM031" not in ran.stderr
    assert "gets a gradient" not in ran.stderr
    assert "no fault was found" not in ran.stderr


TERMS = """\
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for _ in range(12):
    x = torch.randn(8, 6)
    mean, scale = encoder(x).chunk(2, 1)
    q = Normal(mean, scale.exp())
    z = {sample}
    kl = {kl}
    loss = (decoder(z) - x).square().mean() + 0.1 * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
KL = "kl_divergence(q, Normal(torch.zeros(2), torch.ones(2))).mean()"


@pytest.mark.parametrize(
    ("sample", "kl", "shown"),
    [
        ("q.rsample()", f"{KL}.item()", "train.py:11  GM021 `kl`"),
        ("q.sample()", KL, "train.py:10  GM021 `z`"),
        ("q.rsample()", KL, "no fault was found\n"),
        (
            "q.rsample()",
            f"{KL}.detach()",
            "no fault was found, a term of the loss at train.py:12 is",
        ),
    ],
)
def test_what_a_loss_takes_for_a_number_is_found_without_patience(
    tmp_path: Path, sample: str, kl: str, shown: str
) -> None:
    (tmp_path / "train.py").write_text(TERMS.format(sample=sample, kl=kl))
    ran = gradmend(["run", "--check", "--no-rerun", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert "no fault was found" in ran.stderr  # that takes a second run
    ran = gradmend(["run", "--check", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert shown in ran.stderr
