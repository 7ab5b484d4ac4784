"""A graph network in the manner of LightGCN, its messages passed by the real DGL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

Ask = Callable[[str], Awaitable[Findings]]

SCRIPT = """\
import dgl
import dgl.function as fn
import torch
from torch import nn


class Propagation(nn.Module):
    def forward(self, graph, h):
        with graph.local_scope():
            norm = graph.in_degrees().float().clamp(min=1).rsqrt().unsqueeze(1)
            graph.ndata["h"] = h * norm
            graph.update_all(fn.copy_u("h", "m"), fn.sum("m", "out"))
            return graph.ndata["out"] * norm


class Recommender(nn.Module):
    def __init__(self, nodes, width=8, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(nodes, width)
        self.layers = nn.ModuleList(Propagation() for _ in range(layers))

    def forward(self, graph):
        states = [self.embedding.weight]
        for layer in self.layers:
            states.append(layer(graph, states[-1]))
        return torch.stack(states).mean(0)


torch.manual_seed(0)
graph = dgl.add_self_loop(dgl.graph((torch.randint(0, 20, (60,)), torch.randint(0, 20, (60,)))))
model = Recommender(20)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    final = model(graph)
    users, liked, other = torch.randint(0, 20, (3, 16))
    scores = (final[users] * (final[liked] - final[other])).sum(1)
    loss = -nn.functional.logsigmoid(scores).mean()
    optimizer.zero_grad()
    loss.backward()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def ask(service: Service) -> Ask:
    async def found(script: str) -> Findings:
        request = DiagnosisRequest(script=script, time_limit_s=60)
        return await service.ask(request, RUNNING)

    return found


async def test_a_doubled_walk_is_taken_out(ask: Ask) -> None:
    findings = await ask(SCRIPT)
    assert findings.verdict == "confirmed", findings.summary
    assert findings.causes[0].pattern == "duplicate-backward"
    best = findings.patches[0]
    assert best.verification.status == "passed"
    assert best.script.count("loss.backward()") == 1


async def test_one_walk_an_epoch_is_healthy(ask: Ask) -> None:
    healthy = SCRIPT.replace("    loss.backward()\n    loss.backward()\n", "    loss.backward()\n")
    findings = await ask(healthy)
    assert (findings.verdict, findings.causes, findings.patches) == ("healthy", [], [])
