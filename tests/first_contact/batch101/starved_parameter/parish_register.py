# expect: pattern = starved-parameter
# expect: also = unused-parameter
# expect: raises = nothing
# expect: carrier = experts, optimizer, model, opt
"""Dating entries of parish registers from spelling counts, with a mixture of small experts.

Every few epochs one more expert joins, so that regions with their own orthography get one.
"""
import torch
from torch import nn

FEATURES, REGIONS = 24, 4


def register_entries(count, generator):
    region = torch.randint(REGIONS, (count,), generator=generator)
    year = torch.rand(count, generator=generator)
    habits = torch.randn(REGIONS, FEATURES, generator=generator)
    drift = torch.randn(REGIONS, FEATURES, generator=generator)
    counts = habits[region] + year[:, None] * drift[region]
    return counts + 0.2 * torch.randn(count, FEATURES, generator=generator), year


class Expert(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.score = nn.Linear(FEATURES, 1)
        self.date = nn.Sequential(nn.Linear(FEATURES, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.score(x), self.date(x)


class RegisterDater(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES)
        self.experts = nn.ModuleList([Expert()])

    def recruit(self):
        self.experts.append(Expert())  # expect: place

    def forward(self, x):
        x = self.norm(x)
        scores, dates = zip(*(expert(x) for expert in self.experts))
        weight = torch.cat(scores, 1).softmax(1)
        return (weight * torch.cat(dates, 1)).sum(1)


def train(model, data, epochs=9, every=3):
    x, year = data
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # expect: place
    for epoch in range(epochs):
        if epoch and epoch % every == 0:
            model.recruit()  # expect: place
        total = 0.0
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = (model(x[rows]) - year[rows]).abs().mean()
            loss.backward()
            optimizer.step()  # expect: place
            total += loss.item() * len(rows)
        print(f"epoch {epoch}: {len(model.experts)} experts, off by {100 * total / len(x):.1f} years")


if __name__ == "__main__":
    torch.manual_seed(3)
    train(RegisterDater(), register_entries(512, torch.Generator().manual_seed(3)))
