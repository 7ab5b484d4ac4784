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
