"""Which moths fly together? A sigmoid belief net over trap nights, with a learnt baseline."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Bernoulli

SPECIES, HIDDEN, NIGHTS = 14, 5, 256


def trap_nights(rng):
    """Weather types that nobody recorded switch groups of species on."""
    types = rng.random((NIGHTS, HIDDEN)) < 0.4
    affinity = rng.normal(0, 2.5, (HIDDEN, SPECIES))
    chance = 1 / (1 + np.exp(-(types @ affinity - 1)))
    return torch.tensor(rng.random((NIGHTS, SPECIES)) < chance, dtype=torch.float32)


class BeliefNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.prior = nn.Parameter(torch.zeros(HIDDEN))
        self.species = nn.Linear(HIDDEN, SPECIES)
        self.recognise = nn.Sequential(nn.Linear(SPECIES, 24), nn.Tanh(), nn.Linear(24, HIDDEN))
        self.expected = nn.Sequential(nn.Linear(SPECIES, 16), nn.Tanh(), nn.Linear(16, 1))

    def joint(self, x, h):
        log_x = Bernoulli(logits=self.species(h)).log_prob(x).sum(-1)
        return log_x + Bernoulli(logits=self.prior).log_prob(h).sum(-1)

    def forward(self, x):
        q = Bernoulli(logits=self.recognise(x))
        h = q.sample()
        return self.joint(x, h), q.log_prob(h).sum(-1)

    def level(self, x):
        return self.expected(x - 0.5).squeeze(-1)

    @torch.no_grad()
    def importance(self, x, draws=30):
        q = Bernoulli(logits=self.recognise(x))
        logs = []
        for _ in range(draws):
            h = q.sample()
            logs.append(self.joint(x, h) - q.log_prob(h).sum(-1))
        return (torch.logsumexp(torch.stack(logs), 0) - np.log(draws)).mean().item()


class Scale:
    """The signal is divided by its running spread, but never blown up."""

    def __init__(self, decay=0.9):
        self.decay, self.variance = decay, 1.0

    def __call__(self, signal):
        spread = signal.var().item()
        self.variance = self.decay * self.variance + (1 - self.decay) * spread
        return signal / max(1.0, self.variance**0.5)


def train(model, nights, epochs=12, batch=32):
    scale = Scale()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        total = 0.0
        for x in nights[torch.randperm(len(nights))].split(batch):
            log_p, log_q = model(x)
            level = model.level(x)
            bound = log_p - log_q
            signal = scale(bound.detach() - level)
            learn_p = -log_p.mean()
            learn_q = -(signal * log_q).mean()
            learn_level = F.mse_loss(level, bound.detach())
            opt.zero_grad()
            (learn_p + learn_q + 0.1 * learn_level).backward()
            opt.step()
            total += bound.sum().item()
        if epoch % 3 == 2:
            print(f"epoch {epoch:2d}  bound {total / len(nights):8.3f}  "
                  f"spread {scale.variance**0.5:6.2f}  off {learn_level.item():8.3f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(12)
    data = trap_nights(np.random.default_rng(12))
    net = train(BeliefNet(), data[:192])
    print("held out", round(net.importance(data[192:]), 3))
