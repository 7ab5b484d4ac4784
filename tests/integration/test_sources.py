"""Data that were not sent are never empty where training goes through them."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

TILES = """\
from pathlib import Path
import torch
from PIL import Image
from torchvision.transforms.functional import to_tensor

class Slides(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*/*.tif"))
        self.kinds = sorted({path.parent.name for path in self.paths})

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        path = self.paths[at]
        return to_tensor(Image.open(path).resize((8, 8))), self.kinds.index(path.parent.name)

slides = torch.utils.data.DataLoader(Slides("biopsies"), 32, shuffle=True, drop_last=True)
stain = torch.nn.Conv2d(3, 4, 3)
scale = torch.sigmoid(stain.bias).mean()
descent = torch.optim.SGD(stain.parameters(), lr=0.1)
for epoch in range(3):
    for images, kinds in slides:
        scores = stain(images).mean((2, 3)) * scale
        loss = torch.nn.functional.cross_entropy(scores, kinds)
        descent.zero_grad()
        loss.backward()
        descent.step()
"""
RECORDINGS = """\
import os
import birdsounds
import torch
from torch import nn

class Calls(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = [
            os.path.join(where, name)
            for where, _, names in os.walk(root) for name in names if name.endswith(".flac")
        ]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, at):
        wave, rate = birdsounds.read_wave(self.files[at])
        assert rate > 0
        return nn.functional.pad(wave[:1, :400], (0, max(0, 400 - wave.size(1))))

listener = nn.Sequential(nn.Conv1d(1, 4, 9, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1))
descent = torch.optim.Adam(listener.parameters())
for wave in torch.utils.data.DataLoader(Calls("/recordings/spring"), 8):
    loss = listener(wave).square().mean()
    descent.zero_grad()
    loss.backward()
    loss.backward()
    descent.step()
"""
SETTINGS = """\
import torch
from omegaconf import OmegaConf

settings = OmegaConf.load("run.yaml")
assert settings.store == "scratch/deep/7"
net = torch.nn.Linear(settings.width, 1)
descent = torch.optim.SGD(net.parameters(), lr=settings.rate)
state = torch.zeros(2, settings.width)
for step in range(3):
    state = torch.tanh(net.weight * state + 1)
    descent.zero_grad()
    state.sum().backward()
    descent.step()
"""
REEFS = """\
import torch
from reefgraphs import Batcher, Reefs
from survey.head import Head

head = Head(12, 5)
descent = torch.optim.SGD(head.parameters(), lr=0.1)
for reef in Batcher(Reefs("corals"), size=16):
    loss = torch.nn.functional.cross_entropy(head(reef.species, reef.links), reef.health)
    descent.zero_grad()
    loss.backward()
    descent.step()
"""
HEAD = """\
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, species, states):
        super().__init__()
        self.kinds, self.out = nn.Embedding(species, 8), nn.Linear(8, states)
        self.usual = torch.zeros(8)

    def forward(self, species, links):
        here = self.kinds(species)
        source, target = links
        here = here + torch.zeros_like(here).index_add(0, target, here[source])
        self.usual = 0.9 * self.usual + 0.1 * here.mean(0)
        return self.out(here - self.usual)
"""
RUN = "width: 3\nrate: 5e-2\nroot: ${oc.env:SCRATCH_OF_NOBODY,scratch}\nrun: {name: deep, id: 7}\n"
RUN += "store: ${oc.env:SCRATCH_OF_NOBODY,scratch}/${run.name}/${run.id}\n"


async def asked(service: Service, script: str, **more: object) -> Findings:
    request = DiagnosisRequest.model_validate({"script": script, **more})
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize(
    ("script", "pattern", "assumed"),
    [
        (TILES, "derived-outside-loop", "biopsies/*/*.tif"),
        (RECORDINGS, "duplicate-backward", "/recordings/spring"),
    ],
)
async def test_folders_of_files_that_were_not_sent_fill_a_loader(
    service: Service, script: str, pattern: str, assumed: str
) -> None:
    found = await asked(service, script)
    assert found.causes[0].pattern == pattern, found.summary
    assert found.patches[0].verification.status == "passed"
    files = [a.name for a in found.world if a.kind == "file"]
    assert files == [assumed]  # what is in it is not reported again


async def test_settings_are_read_as_their_packages_read_them(service: Service) -> None:
    found = await asked(service, SETTINGS, files=[{"path": "run.yaml", "content": RUN}])
    assert found.causes[0].pattern == "recurrent-state", found.summary
    assert found.patches[0].verification.status == "passed"


async def test_what_an_unknown_package_gives_is_synthesized_by_its_use_in_every_file(
    service: Service,
) -> None:
    files = [{"path": "survey/__init__.py"}, {"path": "survey/head.py", "content": HEAD}]
    found = await asked(service, REEFS, files=[{"content": "", **file} for file in files])
    first, patch = found.causes[0], found.patches[0]
    assert (first.pattern, first.location.file) == ("stored-graph", "survey/head.py"), found.summary
    assert patch.verification.status == "passed"
    assert found.basis == "completed"
    assert any("`Batcher` is not in the files that were sent" in a.text for a in found.world)


OWN_NET = """\
import torch
from nets import Net
net = Net(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
state = torch.zeros(2, 4)
for step in range(8):
    out, state = net(torch.randn(2, 3), state)
    loss = out.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NET = """\
import torch

class Net(torch.nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.cell = torch.nn.GRUCell(inputs, width)

    def forward(self, x, state):
        state = self.cell(x, state)
        return state, state
"""


@pytest.mark.parametrize(
    ("files", "level", "reason"),
    [
        ([], "unsafe", "tested with a stub for `Net`, which was not sent"),
        ([{"path": "nets.py", "content": NET}], "safe", ""),
    ],
    ids=["a stub", "sent"],
)
async def test_no_fix_is_safe_by_a_stub_of_an_own_module(
    service: Service, files: list[dict[str, str]], level: str, reason: str
) -> None:
    found = await asked(service, OWN_NET, files=files)
    patch = found.patches[0]
    assert patch.verification.status == "passed"
    assert (patch.level, patch.level_reason) == (level, reason)
