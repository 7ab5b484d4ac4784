"""What is stored without its graph, where the pass that stores it goes on to read it."""

from __future__ import annotations

from tests.fixing import recognise
from tests.tracing import Tracing

AVERAGE_IN_A_LOSS = """\
    import torch

    class Scored(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.average = torch.nn.Linear(3, 2), 0.0

        def score(self, x):
            self.average = 0.9 * self.average + 0.1 * self.layer(x).square().mean()
            return x.sum() + 2 * self.average

    net = Scored()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.randn(3, 4, 3):
        optimizer.zero_grad()
        net.score(x).backward()
        optimizer.step()
    """


def test_what_a_loss_reads_of_a_store_learns_with_the_first_cut(traced: Tracing) -> None:
    found = recognise(traced, AVERAGE_IN_A_LOSS)
    assert found is not None
    stored = next(p for p in found.proposals if p.strategy == "detach-when-stored")
    assert "return x.sum() + 2 * average" in found.files(stored)["train.py"]


STATE_IN_A_LIBRARY = """\
    import torch
    from torch_geometric.nn.models.tgn import IdentityMessage, LastAggregator, TGNMemory

    torch.manual_seed(0)
    messages, newest = IdentityMessage(3, 4, 4), LastAggregator()
    memory = TGNMemory(8, 3, 4, 4, message_module=messages, aggregator_module=newest)
    head = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*memory.parameters(), *head.parameters()], lr=0.1)
    memory.train()
    memory.reset_state()
    for step in range(4):
        src = torch.arange(step % 3, step % 3 + 4)
        z, _ = memory(src)
        loss = (head(z) - torch.randn(4, 1)).square().mean()
        memory.update_state(src, src.flip(0), torch.full((4,), step), torch.randn(4, 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


def test_a_librarys_module_is_named_that_keeps_a_stale_graph(traced: Tracing) -> None:
    found = recognise(traced, STATE_IN_A_LIBRARY)
    assert found is not None
    assert found.match.carrier is not None
    assert found.match.carrier.name == "memory"
    cuts = [p for p in found.proposals if p.strategy == "detach-carried"]
    own, every = (found.files(cut)["train.py"] for cut in cuts[:2])
    assert "    memory.detach()\n    src = " in own
    assert "    for buffer in memory.buffers():\n        buffer.detach_()\n    src = " in every


WEIGHTS_MADE_ONCE = """\
    import torch
    from torch import nn


    class Dropped(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module
            self.raw = nn.Parameter(module.weight.data)
            del module._parameters["weight"]
            self._set()

        def _set(self):
            setattr(self.module, "weight", torch.nn.functional.dropout(self.raw, 0.5))

        def forward(self, x):
            return self.module(x)


    net = Dropped(nn.Linear(3, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        net(torch.randn(4, 3)).square().mean().backward()
        optimizer.step()
    """


def test_a_method_that_made_weights_once_is_called_in_forward(traced: Tracing) -> None:
    found = recognise(traced, WEIGHTS_MADE_ONCE)
    assert found is not None
    again = found.proposals[0]
    assert again.strategy == "call-in-forward"
    expected = "    def forward(self, x):\n        self._set()\n        return self.module(x)\n"
    assert expected in found.files(again)["train.py"]
    assert "property" not in {p.strategy for p in found.proposals}
