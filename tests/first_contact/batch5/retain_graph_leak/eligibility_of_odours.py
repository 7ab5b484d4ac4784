# expect: pattern = retain-graph-leak
# expect: also = recurrent-state
# expect: raises = nothing
# expect: carrier = trace, self.trace
"""Odour plume tracking: a leaky trace of receptor features is read out at the end of every sniff."""
import torch
import torch.nn as nn


class Antenna(nn.Module):
    def __init__(self, receptors=5, units=12, leak=0.85):
        super().__init__()
        self.receptors = nn.Linear(receptors, units)
        self.readout = nn.Linear(units, 2)
        self.leak = leak
        self.trace = torch.zeros(units)

    def forward(self, sniff):
        for s in sniff:
            self.trace = self.leak * self.trace + torch.tanh(self.receptors(s))  # expect: place
        return self.readout(self.trace)


def plume(n_sniffs, per=4):
    where = torch.zeros(2)
    for _ in range(n_sniffs):
        where = 0.9 * where + 0.3 * torch.randn(2)
        centres = torch.linspace(-1, 1, 5)
        yield torch.exp(-(where[0] - centres) ** 2) + 0.1 * torch.randn(per, 5), where.clone()


torch.manual_seed(90)
antenna = Antenna()
opt = torch.optim.SGD(antenna.parameters(), lr=0.01)
for n, (sniff, where) in enumerate(plume(24), 1):
    loss = (antenna(sniff) - where).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)  # expect: place
    opt.step()
    if n % 8 == 0:
        print(n, round(loss.item(), 4))
