"""Substitutes for packages, files and older APIs, each in a script of its own in the jail."""

from __future__ import annotations

from textwrap import dedent

import pytest

from sandbox.protocol import Job, RunResult
from sandbox.records import Trace
from tests.recorded.box import RecordedSandbox
from tests.stub_scripts.commands import COMMANDS, ENDING
from tests.stub_scripts.data import DATA
from tests.stub_scripts.packages import PACKAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run(sandbox: RecordedSandbox, script: str) -> RunResult:
    return await sandbox.run(Job(files={"train.py": dedent(script)}, gradients=True))


def named(trace: Trace | None) -> set[str]:
    """Everything that was put in the place of something else."""
    assert trace is not None
    return {one.name for one in trace.stubs} | {one.name for one in trace.assumed}


STUBS = DATA | PACKAGES | COMMANDS


@pytest.mark.parametrize("what", STUBS)
async def test_a_script_gets_through_and_what_it_got_is_reported(
    sandbox: RecordedSandbox, what: str
) -> None:
    names, script = STUBS[what]
    result = await run(sandbox, dedent(script))
    assert result.status == "finished", result.stderr_tail
    assert named(result.trace) == names


@pytest.mark.parametrize("how", ENDING)
async def test_a_package_that_would_call_the_script_is_replaced_by_the_call(
    sandbox: RecordedSandbox, how: str
) -> None:
    ran = "import torch; torch.ones(2, requires_grad=True).mul(lr).sum().backward()"
    result = await run(sandbox, ENDING[how].format(ran=ran))
    assert result.status == "finished", result.stderr_tail
    assert result.trace is not None
    assert len(result.trace.backwards) == 1
    assert {one.name: one.text for one in result.trace.assumed} == {
        "train": "`unheard` is not installed here: `train` was called in its place."
    }


CONFIGURED = """
    import unheard
    @unheard.main(version_base=None, config_path="conf", config_name="config")
    def main(cfg: unheard.DictConfig) -> None:
        assert (cfg.optim.lr, cfg["optim"].name, cfg.epochs) == (0.5, "sgd", 3)
    main()
    """
CONFIGURATION = {
    "conf/config.yaml": "defaults:\n  - optim: small\n  - _self_\nepochs: 2\noptim:\n  lr: 0.5\n",
    "conf/optim/small.yaml": "name: sgd\nlr: 0.1\n",
}


async def test_the_settings_that_a_decorator_names_are_read(sandbox: RecordedSandbox) -> None:
    files = {"train.py": dedent(CONFIGURED), **CONFIGURATION}
    result = await sandbox.run(Job(files=files, argv=["epochs=3"]))
    assert result.status == "finished", result.stderr_tail
    assert named(result.trace) == {"unheard"}


async def test_settings_that_are_to_be_computed_are_synthesized(sandbox: RecordedSandbox) -> None:
    script = CONFIGURED.replace('== (0.5, "sgd", 3)', "")
    files = {"train.py": dedent(script), "conf/config.yaml": "epochs: ${steps}\n"}
    result = await sandbox.run(Job(files=files))
    assert result.status == "finished", result.stderr_tail
    assert named(result.trace) == {"unheard", "cfg"}


ON_A_GPU = """
    import torch
    moved = torch.zeros(3, requires_grad=True).cuda()
    assert not moved.is_leaf
    assert not torch.nn.Parameter(torch.zeros(2)).to("cuda:0").is_leaf
    made = torch.zeros(3, requires_grad=True, device="cuda")
    assert made.is_leaf and made.cuda() is made
    data = torch.rand(2, 3).cuda().requires_grad_()
    assert data.is_leaf and data.to("cuda") is data
    for net in (torch.nn.Linear(3, 1).cuda(), torch.nn.Linear(3, 1).to("cuda")):
        assert all(p.is_leaf for p in net.parameters())
    with torch.no_grad():
        assert torch.zeros(3, requires_grad=True).cuda().is_leaf
    number, kind = 0, torch.device("cuda")
    assert torch.device(number) == torch.device(0) == torch.zeros(2, device=0).device
    assert isinstance(kind, torch.device) and torch.device(kind) is not None
    """


async def test_a_leaf_that_is_moved_is_copied_as_to_a_gpu(sandbox: RecordedSandbox) -> None:
    result = await run(sandbox, ON_A_GPU)
    assert result.status == "finished", result.stderr_tail


LOGGERS = """
    from lightning.pytorch import Trainer
    from lightning.pytorch.loggers import CometLogger, CSVLogger, MLFlowLogger

    class Mine(MLFlowLogger):
        def log_metrics(self, metrics, step=None):
            super().log_metrics(metrics, step)

    for kind in (CSVLogger, CometLogger, MLFlowLogger, Mine):
        logger = kind("logs") if kind is CSVLogger else kind()
        logger.log_metrics({"loss": 1.0})
        logger.log_hyperparams({"lr": 0.1})
        trainer = Trainer(logger=logger, gpus=1)
        assert isinstance(trainer.logger, kind) and issubclass(type(trainer.logger), kind)
    """


async def test_loggers_stay_what_they_are_without_their_packages(sandbox: RecordedSandbox) -> None:
    result = await run(sandbox, LOGGERS)
    assert result.status == "finished", result.stderr_tail
    assert result.trace is not None
    said = "the trainer here has no argument `gpus`: it was left out"
    assert said in [one.detail for one in result.trace.stubs]


@pytest.mark.parametrize(
    "used",
    [
        "optimizer = torch.optim.SGD(models.Net().parameters(), lr=0.1)",
        "loss = net(x).sum() + models.penalty(net)",
        "loss = models.loss(net(x)); loss.backward()",
        "net = torch.nn.Linear(models.WIDTH, 2)",
    ],
)
async def test_training_does_not_go_through_what_is_not_there(
    sandbox: RecordedSandbox, used: str
) -> None:
    script = f"import torch, models\nnet, x = torch.nn.Linear(2, 2), torch.ones(1, 2)\n{used}\n"
    result = await run(sandbox, script)
    assert result.status == "raised"
    assert result.trace is not None
    assert [(n.kind, n.name) for n in result.trace.needs] == [("package", "models")]


async def test_a_part_of_the_project_is_not_stood_in_for(sandbox: RecordedSandbox) -> None:
    files = {"train.py": "import nets.deep", "nets/flat.py": "x = 1"}
    result = await sandbox.run(Job(files=files))
    assert result.trace is not None
    assert [n.detail for n in result.trace.needs] == [
        "attach nets/deep.py, which is a part of the project"
    ]


ENDLESS = """\
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
while True:
    loss = net(torch.randn(4, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_training_that_does_not_end_is_followed_for_a_while(sandbox: RecordedSandbox) -> None:
    result = await sandbox.run(Job(files={"train.py": ENDLESS}, follow_s=1))
    assert result.status == "stopped"
    assert result.trace is not None
    assert len(result.trace.backwards) >= 8


BY_NUMBER = """
    import torch
    from torch import nn
    for rank in range(torch.cuda.device_count()):
        layer = nn.Linear(4, 2).to(rank)
        made = torch.ones(3, 4, device=rank)
        assert made.to(rank, non_blocking=True).to(torch.float64).shape == (3, 4)
        layer(made.to(device=rank)).sum().backward()
    assert rank == 0 and layer.weight.device.type == "cpu"
    """


async def test_a_gpu_is_taken_by_its_number(sandbox: RecordedSandbox) -> None:
    result = await run(sandbox, BY_NUMBER)
    assert result.status == "finished", result.stderr_tail
    assert named(result.trace) == {"cuda"}
