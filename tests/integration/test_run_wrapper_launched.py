"""`gradmend run` around trainings of several processes: ranks, workers, lower precision."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.run_wrapper import call, gradmend

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.rotating,
]  # each repeated run starts all of its processes
PYTHON = sys.executable
MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.head(h), h
"""
RANKS = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from model import Net

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net, h = DistributedDataParallel(Net()), torch.zeros(2, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out, h = net(torch.randn(2, 4), h)
        loss = out.float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        torch.save(net.module.state_dict(), "net.pt")
dist.destroy_process_group()
print("rank", rank, "is done")
"""
WORKERS = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
from model import Net


def main():
    net, h = Net(), torch.zeros(2, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu")
    rows = TensorDataset(torch.randn(8, 4))
    for (x,) in DataLoader(rows, batch_size=2, num_workers=2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out, h = net(x, h)
            loss = out.float().square().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    main()
"""
# The rendezvous, and what the ranks say to each other, stay on this machine; ports are free ones.
TORCHRUN = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone"]
LOCAL = (("GLOO_SOCKET_IFNAME", "lo"), ("MASTER_ADDR", "127.0.0.1"))


@pytest.mark.parametrize(
    ("program", "start"),
    [(RANKS, [*TORCHRUN, "--local-addr=127.0.0.1"]), (WORKERS, [])],
    ids=["two ranks", "workers and scaled losses"],
)
def test_a_training_of_several_processes_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, start: list[str]
) -> None:
    for name, value in LOCAL:
        monkeypatch.setenv(name, value)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(program)
    command = [PYTHON, *start, "train.py"]
    ran = gradmend(["run", "--patient", "--", *command], tmp_path, timeout=1500)
    assert ran.code == 1
    assert ran.stderr.count("── gradmend") == 1  # of several ranks, one reports
    assert "`h`: A recurrent state still holds" in ran.stderr
    assert "✓ your command ran again with it: no error in 4 backward calls" in ran.stderr
    assert (tmp_path / "train.py").read_text() == program
    assert "changed train.py" in gradmend(["apply"], tmp_path).stderr
    assert call(command, tmp_path).code == 0


UNUSED = MODEL.replace("self.head =", "self.extra = nn.Linear(8, 2)\n        self.head =")
STATELESS = RANKS.replace("net(torch.randn(2, 4), h)", "net(torch.randn(2, 4), torch.zeros(2, 8))")
TWICE = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        h = self.first(x)
        h = checkpoint(self.body, h, use_reentrant=True)
        h = checkpoint(self.body, h, use_reentrant=True)
        return self.head(h)


dist.init_process_group("gloo")
net = DistributedDataParallel(Net())
for step in range(4):
    net(torch.randn(2, 4)).square().mean().backward()
"""


@pytest.mark.parametrize(
    ("model", "program", "said"),
    [(UNUSED, STATELESS, "`extra.weight`: "), (MODEL, TWICE, "`body.")],
    ids=["unfinished reduction", "ready twice"],
)
def test_errors_of_ddp_name_their_parameters_once_for_all_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, program: str, said: str
) -> None:
    for name, value in LOCAL:
        monkeypatch.setenv(name, value)
    (tmp_path / "model.py").write_text(model)
    (tmp_path / "train.py").write_text(program)
    command = [PYTHON, *TORCHRUN, "--local-addr=127.0.0.1", "train.py"]
    ran = gradmend(["run", "--no-rerun", "--", *command], tmp_path, timeout=1500)
    assert ran.code == 1
    assert ran.stderr.count("── gradmend") == 1
    assert said in ran.stderr.partition("── gradmend")[2]


MODULE = """\
import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Smoothed(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.average = 0.0

    def training_step(self, batch, batch_idx):
        loss = self.net(batch[0]).square().mean()
        self.average = 0.9 * self.average + 0.1 * loss
        self.log("average", self.average)
        return self.average

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


rows = DataLoader(TensorDataset(torch.ones(12, 4)), batch_size=2)
trainer = lightning.Trainer(
    max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False
)
trainer.fit(Smoothed(), rows)
"""


def test_a_fix_of_a_training_step_is_made_in_the_users_own_file(tmp_path: Path) -> None:
    """The loop is Lightning's, and begins with a number: no cut between iterations can be made."""
    (tmp_path / "train.py").write_text(MODULE)
    ran = gradmend(["run", "--patient", "--", PYTHON, "train.py"], tmp_path, timeout=1500)
    assert ran.code == 1
    assert "average = 0.9 * self.average + 0.1 * loss" in ran.stderr
    assert "self.average = average.detach()" in ran.stderr
    assert "return average" in ran.stderr
    assert "✓ your command ran again with it" in ran.stderr
