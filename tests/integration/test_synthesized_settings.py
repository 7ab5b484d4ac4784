"""Settings, usage and pictures that were not sent: synthesized by their uses."""

from __future__ import annotations

import pytest

from benchmarks.asking import Service
from tests.integration.test_synthesized import asked

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEASURES = """\
\"\"\"Ripeness from a table: python measure.py settings/fruit.json 6\"\"\"
import csv, json, sys
import numpy as np
import torch
from torch import nn

with open(sys.argv[1]) as file:
    width = json.load(file)["width"]
rows = [(r[0].split(), int(r[1])) for r in csv.reader(open("labels.tsv"), delimiter="\\t")]


class Scans(torch.utils.data.Dataset):
    def __len__(self):
        return int(sys.argv[2])

    def __getitem__(self, i):
        scan = np.load(f"scan{i}.npz")
        return torch.from_numpy(scan["slice"]).float(), int(scan["ripe"]), float(scan["mass"])


cell, out = nn.GRUCell(16, width), nn.Linear(width, 2)
state = torch.zeros(3, width)
for x, ripe, mass in torch.utils.data.DataLoader(Scans(), 3):
    state = cell(x, state)
    loss = nn.functional.cross_entropy(out(state), ripe) + mass.mean() + 0 * len(rows)
    loss.backward()
"""
NOTED = """\
curve = []
for query, found in log:
    error = ((ranker(query) - found) ** 2).mean()
    descent.zero_grad()
    error.backward()
    descent.step()
    curve.append(error)
plt.plot(curve)
# RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach() instead.
"""
PICTURE = """\
import numpy as np
import torch
from PIL import Image

pixels = torch.from_numpy(np.asarray(Image.open("cat.png").convert("L"))).float() / 255
cell = torch.nn.RNNCell(64, 8)
state = torch.zeros(1, 8)
for row in pixels[:4]:
    state = cell(row[None], state)
    state.mean().backward()
"""


CONFIGURED = """\
from dataclasses import dataclass
from pathlib import Path
import sys
import numpy as np
import torch
import yaml
from torch import nn

@dataclass
class Shape:
    hidden: int
    depth: int

def build(shape):
    return nn.GRUCell(shape["inputs"], shape["hidden"])

config = yaml.safe_load(Path(sys.argv[1]).read_text())
torch.manual_seed(config["seed"])
shape = Shape(**config["shape"])
rows = np.load(config["data"]["rows"])
cell = build(config["cell"])
optimizer = torch.optim.SGD(cell.parameters(), lr=config["optimizer"]["lr"])
state = torch.zeros(config["streams"], cell.hidden_size)
for _ in range(config["epochs"]):
    state = cell(torch.zeros(len(state), cell.input_size) + float(rows["scale"]), state)
    optimizer.zero_grad()
    state.sum().backward()
    optimizer.step()
"""
SETTINGS_OF_A_MODULE = """\
from dataclasses import dataclass
from pathlib import Path

import yaml

@dataclass
class Shape:
    hidden: int
    depth: int
    scale: float = 1.0

def load(name):
    with open(name) as file:
        settings = yaml.safe_load(file)
    settings["shape"] = Shape(**settings["shape"])
    settings["root"] = Path(settings["root"])
    return settings
"""
CONFIGURED_BY_IT = """\
import sys
import numpy as np
import torch
from torch import nn
import settings

chosen = settings.load(sys.argv[1])
device = torch.device(chosen["run"]["device"])
with np.load(chosen["root"] / chosen["tides"]) as held:
    tides = torch.from_numpy(held["tides"]).float().to(device)
cell = nn.GRUCell(tides.shape[1], chosen["shape"].hidden).to(device)
optimizer = torch.optim.SGD(cell.parameters(), lr=chosen["run"]["lr"])
state = torch.zeros(len(tides), chosen["shape"].hidden)
for turn in range(6):
    state = cell(tides, state)
    optimizer.zero_grad()
    state.sum().backward()
    optimizer.step()
    if turn % chosen["run"]["log_every"] == 0:
        print(turn)
"""


async def test_what_the_usage_shows_is_given_and_cells_and_arrays_are_the_numbers_asked(
    service: Service,
) -> None:
    settings = {"path": "settings/fruit.json", "content": '{"width": 5}'}
    found = await asked(service, MEASURES, filename="measure.py", files=[settings])
    reported = {(a.kind, a.name): a.text for a in found.world}
    assert "settings/fruit.json" in reported["argument", "sys.argv[1]"]
    assert "`6`" in reported["argument", "sys.argv[2]"]
    assert found.run is not None
    assert found.run.status == "reproduced"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.patches[0].verification.status == "passed"


async def test_an_error_noted_in_a_comment_is_the_error(service: Service) -> None:
    found = await asked(service, NOTED)
    assert found.error is not None
    assert found.error.family == "no-grad"
    assert (found.causes[0].pattern, found.causes[0].location.line) == ("numpy-on-grad", 8)


async def test_a_missing_picture_is_synthesized_for_the_real_library(service: Service) -> None:
    found = await asked(service, PICTURE)
    assert found.causes[0].pattern == "recurrent-state"
    assert {(a.kind, a.name) for a in found.world} >= {("file", "cat.png")}
    assert found.run is not None
    assert "PIL" not in found.run.stand_ins


async def test_settings_that_were_not_sent_are_what_the_script_takes_apart(
    service: Service,
) -> None:
    again = "RuntimeError: Trying to backward through the graph a second time"
    found = await asked(service, CONFIGURED, traceback=again)
    assert found.run is not None
    assert found.run.status == "reproduced"
    assert found.causes[0].pattern == "recurrent-state"
    assert "config.yaml" in {a.name for a in found.world if a.kind == "file"}


async def test_settings_that_another_module_reads_are_of_the_kinds_that_their_uses_say(
    service: Service,
) -> None:
    files = [{"path": "settings.py", "content": SETTINGS_OF_A_MODULE}]
    again = "RuntimeError: Trying to backward through the graph a second time"
    found = await asked(service, CONFIGURED_BY_IT, files=files, traceback=again)
    assert found.run is not None
    assert found.run.status == "reproduced"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.patches[0].verification.status == "passed"
