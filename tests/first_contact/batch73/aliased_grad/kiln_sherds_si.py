# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = unregularised, p.grad
"""Potsherd fabrics of three excavation seasons learnt one after the other, with synaptic intelligence
against forgetting."""
import torch
from torch import nn
from torch.nn import functional as F


class SynapticIntelligence:
    def __init__(self, model, strength=1.0, damping=0.1):
        self.model, self.strength, self.damping = model, strength, damping
        self.path = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        self.importance = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        self.anchor = {n: p.detach().clone() for n, p in model.named_parameters()}

    def surrogate(self):
        return self.strength * sum(
            (self.importance[n] * (p - self.anchor[n]).square()).sum()
            for n, p in self.model.named_parameters())

    def accumulate(self, unregularised, before):
        with torch.no_grad():
            for n, p in self.model.named_parameters():
                self.path[n] -= unregularised[n] * (p - before[n])  # expect: place

    def consolidate(self):
        with torch.no_grad():
            for n, p in self.model.named_parameters():
                moved = (p - self.anchor[n]).square() + self.damping
                self.importance[n] += torch.relu(self.path[n]) / moved
                self.path[n].zero_()
                self.anchor[n] = p.clone()


def season(shift, gen, n=96):
    fabric = torch.randint(0, 3, (n,), generator=gen)
    centres = torch.tensor([[1.0, 0.0, -1.0, 0.5], [-1.0, 1.0, 0.0, 0.5], [0.0, -1.0, 1.0, -0.5]])
    x = centres[fabric] + shift + 0.4 * torch.randn(n, 4, generator=gen)
    return x, fabric


def train_season(model, si, optimizer, x, y, epochs=10, batch=32):
    for _ in range(epochs):
        for xb, yb in zip(x.split(batch), y.split(batch)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            unregularised = {n: p.grad for n, p in model.named_parameters()}  # expect: place
            penalty = si.surrogate()
            penalty.backward()  # expect: place
            before = {n: p.detach().clone() for n, p in model.named_parameters()}
            optimizer.step()
            si.accumulate(unregularised, before)  # expect: place
    si.consolidate()
    return loss.item()


def main():
    torch.manual_seed(600)
    gen = torch.Generator().manual_seed(7)
    seasons = [season(torch.tensor(s), gen) for s in
               ([0.0, 0.0, 0.0, 0.0], [1.5, -0.5, 0.0, 0.5], [-1.0, 1.5, -1.5, 0.0])]
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
    si = SynapticIntelligence(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for k, (x, y) in enumerate(seasons):
        loss = train_season(model, si, optimizer, x, y)
        with torch.no_grad():
            accuracy = [(model(a).argmax(1) == b).float().mean().item() for a, b in seasons[: k + 1]]
        print(f"season {k}: loss {loss:.3f} accuracies", [round(a, 2) for a in accuracy])


main()
