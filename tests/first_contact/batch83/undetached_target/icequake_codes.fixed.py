# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = codes, q, self.codes
"""Icequakes of a glacier, sorted without labels. Two noisy views of a trace are laid on the same
prototypes; the balanced codes of one view are the soft labels that the other has to predict."""
import torch
import torch.nn.functional as F
from torch import nn


class Listener(nn.Module):
    def __init__(self, samples=32, width=12, kinds=5):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(samples, 40), nn.ReLU(), nn.Linear(40, width))
        self.kinds = nn.Linear(width, kinds, bias=False)

    def forward(self, trace):
        return self.kinds(F.normalize(self.trunk(trace), dim=1))


class EvenCodes:
    """Soft labels in which every kind of quake gets its even share of the batch."""

    def __init__(self, sharpness=0.08, turns=3):
        self.sharpness, self.turns = sharpness, turns

    @torch.no_grad()
    def __call__(self, scores):  # expect: place
        q = torch.exp((scores - scores.max()) / self.sharpness).t()  # expect: place
        kinds, quakes = q.shape
        q = q / q.sum()
        for _ in range(self.turns):
            q = q / q.sum(dim=1, keepdim=True) / kinds
            q = q / q.sum(dim=0, keepdim=True) / quakes
        return (q * quakes).t()  # expect: place


def views(traces):
    for _ in range(2):
        louder = 1 + 0.2 * torch.randn(len(traces), 1)
        yield louder * traces + 0.1 * torch.randn_like(traces)


class Sorter:
    def __init__(self, net, temperature=0.2):
        self.net, self.temperature = net, temperature
        self.label = EvenCodes()
        self.opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)

    def loss(self, traces):
        scores = [self.net(view) for view in views(traces)]
        codes = [self.label(s) for s in scores]  # expect: place
        total = 0.0
        for mine, other in ((0, 1), (1, 0)):
            log_p = F.log_softmax(scores[mine] / self.temperature, dim=1)
            total = total - (codes[other] * log_p).sum(1).mean()  # expect: place
        return total / 2

    def learn(self, traces):
        with torch.no_grad():
            self.net.kinds.weight.copy_(F.normalize(self.net.kinds.weight, dim=1))
        loss = self.loss(traces)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(21)
t = torch.linspace(0, 1, 32)
pitch = torch.randint(2, 7, (96, 1)).float()
traces = torch.sin(6.28 * pitch * t) * torch.exp(-3 * t) + 0.05 * torch.randn(96, 32)
sorter = Sorter(Listener())
for epoch in range(4):
    told = [sorter.learn(batch) for batch in traces[torch.randperm(96)].split(32)]
    print(epoch, round(sum(told) / len(told), 4))
