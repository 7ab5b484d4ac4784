


"""Firing phases of a pottery kiln (drying, quartz jump, soak, cooling) from its
thermocouple, with a hidden Markov model whose emissions are a small network."""
import math

import torch
import torch.nn as nn

PHASES = 4
LENGTH = 18
FIRINGS = 20


def log_book(n, generator):
    slope = torch.tensor([0.6, 1.4, 0.0, -1.1])
    books = []
    for _ in range(n):
        cuts = torch.sort(torch.randperm(LENGTH - 1, generator=generator)[:PHASES - 1])[0] + 1
        phase = torch.bucketize(torch.arange(LENGTH), cuts, right=True)
        rise = slope[phase] + 0.25 * torch.randn(LENGTH, generator=generator)
        books.append(torch.stack([rise, rise.cumsum(0) / LENGTH], dim=1))
    return torch.stack(books)


class Emission(nn.Module):
    """density of a reading under every phase: a Gaussian on learned features"""

    def __init__(self, hidden=8):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, PHASES))

    def forward(self, readings):
        return torch.softmax(self.features(readings), dim=-1) * PHASES


class KilnHMM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emission = Emission()
        self.start = nn.Parameter(torch.zeros(PHASES))
        self.moves = nn.Parameter(2.0 * torch.eye(PHASES))

    def forward(self, readings):
        """scaled forward recursion, returns the mean log-likelihood and the beliefs"""
        batch, length, _ = readings.shape
        density = self.emission(readings)
        moves = torch.softmax(self.moves, dim=1)
        first = torch.softmax(self.start, dim=0) * density[:, 0]
        evidence = first.sum(1, keepdim=True)
        belief = [first / evidence]
        loglik = evidence.log().sum(1)
        for t in range(1, length):
            joint = (belief[-1] @ moves) * density[:, t]
            evidence = joint.sum(1, keepdim=True)
            belief.append(joint / evidence)
            loglik = loglik + evidence.log().sum(1)
        return loglik.mean() / length, torch.stack(belief, dim=1)


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(30)
    books = log_book(FIRINGS, gen)
    hmm = KilnHMM()
    opt = torch.optim.RMSprop(hmm.parameters(), lr=0.01)
    for sweep in range(8):
        opt.zero_grad()
        loglik, belief = hmm(books)
        spread = belief.mean(dim=(0, 1))
        balance = (spread * spread.clamp_min(1e-6).log()).sum() + math.log(PHASES)
        objective = -loglik + 0.3 * balance
        objective.backward()
        opt.step()
        print(f"sweep {sweep}: loglik {loglik.item():+.4f}  balance {balance.item():.3f}")


if __name__ == "__main__":
    main()
