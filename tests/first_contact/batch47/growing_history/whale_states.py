# expect: pattern = growing-history
# expect: carrier = total
"""Hidden Markov model of whale behaviour (three states) fitted by gradient on dive depths."""
import torch
from torch import nn


class Meter:
    def __init__(self, label):
        self.label = label
        self.total = 0.0
        self.weight = 0

    def add(self, value, n=1):
        self.total = self.total + value * n  # expect: place
        self.weight += n

    def mean(self):
        return self.total / max(self.weight, 1)

    def __str__(self):
        return f"{self.label} {float(self.mean()):.4f}"


class DiveHMM(nn.Module):
    def __init__(self, states=3):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(states))
        self.moves = nn.Parameter(torch.eye(states))
        self.depth = nn.Parameter(torch.linspace(0.5, 3.0, states))
        self.log_scale = nn.Parameter(torch.zeros(states))

    def emission(self, dives):
        dist = torch.distributions.Normal(self.depth, self.log_scale.exp())
        return dist.log_prob(dives.unsqueeze(-1))

    def log_likelihood(self, dives):
        """Forward recursion; dives is (whales, time)."""
        seen = self.emission(dives)
        moves = self.moves.log_softmax(1)
        alpha = self.first.log_softmax(0) + seen[:, 0]
        for t in range(1, dives.shape[1]):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + moves, dim=1) + seen[:, t]
        return torch.logsumexp(alpha, dim=1)


def tagged_whales(n, time, gen):
    stay = 0.85
    state = torch.randint(0, 3, (n,), generator=gen)
    centres, widths = torch.tensor([0.3, 1.5, 4.0]), torch.tensor([0.1, 0.4, 0.6])
    columns = []
    for _ in range(time):
        hop = torch.rand(n, generator=gen) > stay
        state = torch.where(hop, torch.randint(0, 3, (n,), generator=gen), state)
        columns.append(centres[state] + widths[state] * torch.randn(n, generator=gen))
    return torch.stack(columns, 1)


def fit(epochs=4, batch=16):
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    dives = tagged_whales(96, 20, gen)
    hmm = DiveHMM()
    opt = torch.optim.Adam(hmm.parameters(), lr=0.05)
    whole_run = Meter("run")
    for epoch in range(epochs):
        meter = Meter(f"epoch {epoch}")
        for lo in range(0, len(dives), batch):
            part = dives[lo:lo + batch]
            nll = -hmm.log_likelihood(part).mean() / part.shape[1]
            opt.zero_grad()
            nll.backward()
            opt.step()
            meter.add(nll, len(part))  # expect: place
            whole_run.add(nll, len(part))  # expect: place
        print(meter, "|", whole_run, "| depths", [round(d, 2) for d in hmm.depth.tolist()])


if __name__ == "__main__":
    fit()
