"""Graphs that evaluations, logs and epochs keep."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing, silent_kinds

EVALUATED = """\
import torch
from torch import nn

class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        kept = [x]
        for _ in range(10):
            kept.append(self.cell(x, kept[-1]))
        return torch.stack(kept)

model = Steps()

def evaluate():
    model.MODE()
    kept = []
    for _ in range(10):
        KEEP
    return kept

found = evaluate()
"""

COLLECTS = "kept.append(model(torch.ones(2, 4)).sigmoid())"


@pytest.mark.parametrize(
    ("mode", "keep", "behind", "reported"),
    [
        ("eval", COLLECTS, "", [["kept", "kept[-1]"]]),
        ("eval", COLLECTS, "torch.stack(found).sum().backward()", []),
        ("eval", COLLECTS.replace("sigmoid", "detach"), "", []),
        ("eval", "kept = [model(torch.ones(2, 4))]", "", []),
        ("train", COLLECTS, "", []),
    ],
)
def test_an_evaluation_that_collects_graphs_is_reported_where_nothing_is_run_backward(
    traced: Tracing, mode: str, keep: str, behind: str, reported: list[list[str]]
) -> None:
    script = EVALUATED.replace("MODE", mode).replace("KEEP", keep) + behind
    run = traced(script)
    assert run.code == 0, run.stderr
    growing = [fault for fault in run.trace.silent if fault.kind == "growing-graph"]
    assert [[holder.path for holder in fault.holders] for fault in growing] == reported


OF_THE_LIBRARY = """\
layers = [layer for _ in range(10) for layer in (nn.Linear(4, 4), nn.ReLU())]
model = nn.Sequential(*layers)
model.eval()
kept = []
for _ in range(PASSES):
    kept.append(model(torch.ones(3, 4)))
"""


@pytest.mark.parametrize(("passes", "reported"), [(2, []), (12, ["growing-graph"])])
def test_passes_of_a_model_are_counted_and_not_those_of_its_layers(
    traced: Tracing, passes: int, reported: list[str]
) -> None:
    text = "import torch\nfrom torch import nn\n" + OF_THE_LIBRARY.replace("PASSES", str(passes))
    assert [fault.kind for fault in traced(text).trace.silent] == reported


LOGGED = """\
from collections import defaultdict

class Log:
    def __init__(self):
        self.maps = defaultdict(list)

class Layer(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.fit, self.log = nn.Linear(3, 3), log

    def forward(self, x):
        weights = self.fit(x).softmax(-1)
        self.log.maps["first"].append(KEPT)
        return weights * x

class Trainer:
    def __init__(self):
        self.net = nn.Sequential(Layer(Log()), nn.Linear(3, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self):
        self.optimizer.zero_grad()
        self.net(torch.ones(2, 3)).square().mean().backward()
        self.optimizer.step()

def main():
    trainer = Trainer()
    for _ in range(12):
        trainer.step()

main()
"""


@pytest.mark.parametrize(
    ("kept", "reported"), [("weights.mean(0)", ["growing-graph"]), ("weights.detach().mean(0)", [])]
)
def test_a_log_deep_inside_a_module_is_looked_into(
    traced: Tracing, kept: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + LOGGED.replace("KEPT", kept)) == reported


EPOCHS = """
class Trainer:
    def __init__(self):
        self.net, self.history = nn.Linear(3, 1), {}
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def epoch(self):
        losses = []
        for batch in torch.randn(6, 2, 3):
            self.optimizer.zero_grad()
            losses.append(self.net(batch).square().mean())
            losses[-1].backward()
            self.optimizer.step()
        return {"loss": torch.stack(losses).mean()}

trainer = Trainer()
for epoch in range(5):
    trainer.history[KEY] = trainer.epoch()
"""


@pytest.mark.parametrize(("key", "reported"), [("epoch", ["growing-graph"]), ("'last'", [])])
def test_what_only_epochs_add_to_grows_from_look_to_look(
    traced: Tracing, key: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + EPOCHS.replace("KEY", key)) == reported
