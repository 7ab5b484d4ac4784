"""Arguments, modules, data files and projects of several folders, through the whole service."""

from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO

import numpy as np
import pytest

from app.request.limits import check
from app.schemas import DiagnosisRequest, Findings, SourceFile
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

CARRIED = """\
import torch
from torch import nn

{before}
cell = nn.GRUCell(4, 8)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
hidden = torch.zeros(2, 8)
for step in range({steps}):
    hidden = cell(torch.randn(2, 4), hidden)
    loss = hidden.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def diagnosed(service: Service, request: DiagnosisRequest) -> Findings:
    return await service.ask(check(request), RUNNING)


def assert_fixed(found: Findings) -> None:
    assert found.verdict == "confirmed", found.summary
    assert found.causes[0].pattern == "recurrent-state"
    assert found.patches[0].verification.status == "passed"


async def test_arguments_reach_every_run(service: Service) -> None:
    read = "import sys\nsteps = int(sys.argv[1])\nassert sys.argv[2:] == ['--name', 'a b']"
    script = CARRIED.format(before=read, steps="steps")
    assert_fixed(
        await diagnosed(service, DiagnosisRequest(script=script, args=["4", "--name", "a b"]))
    )


async def test_data_files_keep_their_bytes(service: Service) -> None:
    packed = BytesIO()
    np.savez(packed, steps=np.array(4))
    read = "import numpy as np\nsteps = int(np.load('data/small.npz')['steps'])"
    data = SourceFile(
        path="data/small.npz", content=b64encode(packed.getvalue()).decode(), encoding="base64"
    )
    script = CARRIED.format(before=read, steps="steps")
    assert_fixed(await diagnosed(service, DiagnosisRequest(script=script, files=[data])))


PACKAGE = [
    SourceFile(path="pkg/__init__.py", content="print('once')\n"),
    SourceFile(path="pkg/settings.py", content="STEPS = 4\n"),
]


async def test_a_module_is_run_as_python_would_with_its_script_among_the_files(
    service: Service,
) -> None:
    script = CARRIED.format(before="from .settings import STEPS", steps="STEPS")
    files = [*PACKAGE, SourceFile(path="pkg/train.py", content=script)]
    found = await diagnosed(service, DiagnosisRequest(module="pkg.train", files=files))
    assert_fixed(found)
    assert found.causes[0].location.file == "pkg/train.py"
    assert found.run is not None
    assert found.run.stdout_tail.count("once") == 1


async def test_a_package_at_the_root_is_found_from_a_script_below(service: Service) -> None:
    script = CARRIED.format(before="from pkg.settings import STEPS", steps="STEPS")
    request = DiagnosisRequest(script=script, filename="scripts/train.py", files=PACKAGE)
    assert_fixed(await diagnosed(service, request))


async def test_a_package_in_src_is_found(service: Service) -> None:
    files = [SourceFile(path=f"src/{file.path}", content=file.content) for file in PACKAGE]
    script = CARRIED.format(before="from pkg.settings import STEPS", steps="STEPS")
    assert_fixed(await diagnosed(service, DiagnosisRequest(script=script, files=files)))


async def test_directories_above_the_project_can_be_made(service: Service) -> None:
    make = "import os\nos.makedirs('../../data/mnist', exist_ok=True)\nopen('../../x.txt', 'w')"
    assert_fixed(
        await diagnosed(service, DiagnosisRequest(script=CARRIED.format(before=make, steps=4)))
    )


async def test_forgotten_arguments_are_filled_in(service: Service) -> None:
    read = """\
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("data", type=str)
parser.add_argument("--mode", choices=["test", "train"], required=True)
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--layers", type=int, nargs=2, required=True)
parser.add_argument("--train_size", type=int, default=7)
parser.add_argument("--val_size", type=int, required=True)
args = parser.parse_args()
print(json.dumps(vars(args)))"""
    found = await diagnosed(service, DiagnosisRequest(script=CARRIED.format(before=read, steps=4)))
    assert (found.verdict, found.basis) == ("likely", "completed")
    assert found.patches[0].verification.status == "passed"
    assert {a.name for a in found.world} == {"data", "--mode", "--lr", "--layers", "--val_size"}
    assert found.run is not None
    args = json.loads(found.run.stdout_tail.splitlines()[0])
    assert args["mode"] == "train"
    assert args["val_size"] == 7
    assert 0 < args["lr"] < 1
    assert len(args["layers"]) == 2
    assert isinstance(args["data"], str)


async def test_an_unknown_argument_is_still_refused(service: Service) -> None:
    read = "import argparse\nargparse.ArgumentParser().parse_args()"
    script = CARRIED.format(before=read, steps=4)
    found = await diagnosed(service, DiagnosisRequest(script=script, args=["--unknown", "1"]))
    assert found.run is not None
    assert "unrecognized arguments" in found.run.stderr_tail
