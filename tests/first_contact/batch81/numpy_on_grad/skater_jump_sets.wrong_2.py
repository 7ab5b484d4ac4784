"""Jumps of a figure skater in an ankle sensor: a set of guesses is matched to the judges' list."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

KINDS = ["toe loop", "lutz", "axel"]
NOTHING = len(KINDS)


class JumpFinder(nn.Module):
    def __init__(self, queries=6, width=24):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv1d(2, width, 5, padding=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(),
        )
        self.query = nn.Parameter(torch.randn(queries, width))
        self.kind = nn.Linear(width, NOTHING + 1)
        self.when = nn.Linear(width, 1)

    def forward(self, signal):
        place = torch.linspace(0, 1, signal.shape[-1])
        keys = self.stem(signal) + torch.sin(6 * place)
        look = torch.softmax(self.query @ keys / keys.shape[1] ** 0.5, dim=-1)
        found = look @ keys.transpose(1, 2)
        return self.kind(found), self.when(found).squeeze(-1).sigmoid()


def greedy_assignment(cost):
    """The cheapest pair first; rows are guesses, columns are true jumps."""
    cost = np.array(cost, copy=True)
    rows, columns = [], []
    for _ in range(cost.shape[1]):
        r, c = np.unravel_index(np.argmin(cost), cost.shape)
        rows.append(int(r))
        columns.append(int(c))
        cost[r, :] = cost[:, c] = np.inf
    return rows, columns


class Matcher:
    def __init__(self, weight_kind=1.0, weight_when=4.0):
        self.weight_kind, self.weight_when = weight_kind, weight_when

    def __call__(self, logits, when, truth):
        kinds, times = truth
        cost_kind = -logits.softmax(-1)[:, kinds]
        cost_when = (when[:, None] - times[None, :]).abs()
        cost = self.weight_kind * cost_kind + self.weight_when * cost_when
        return greedy_assignment(cost.detach().numpy())


class SetLoss(nn.Module):
    def __init__(self, matcher):
        super().__init__()
        self.matcher = matcher

    def forward(self, logits, when, truths):
        total = logits.new_zeros(())
        for one_logits, one_when, truth in zip(logits, when, truths):
            rows, columns = self.matcher(one_logits, one_when, truth)
            target = torch.full((len(one_logits),), NOTHING)
            target[rows] = truth[0][columns]
            total = total + F.cross_entropy(one_logits, target)
            total = total + 4 * (one_when[rows] - truth[1][columns]).abs().mean()
        return total / len(truths)


def programmes(n, rng, length=64):
    signal = rng.normal(0, 0.1, (n, 2, length)).astype(np.float32)
    truths = []
    for i in range(n):
        count = rng.integers(1, 4)
        at = rng.choice(np.arange(4, length - 4, 6), count, replace=False)
        kind = rng.integers(0, len(KINDS), count)
        for t, k in zip(at, kind):
            signal[i, 0, t : t + 3] += 1 + 0.5 * k
            signal[i, 1, t - 2 : t] -= k - 1
        truths.append((torch.tensor(kind), torch.tensor(at / length, dtype=torch.float32)))
    return torch.tensor(signal), truths


def main():
    torch.manual_seed(13)
    signal, truths = programmes(16, np.random.default_rng(13))
    model, criterion = JumpFinder(), SetLoss(Matcher())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(15):
        logits, when = (out.detach().requires_grad_() for out in model(signal))
        loss = criterion(logits, when, truths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"step {step + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
