"""Seed swap between allotments: which gardener would like which variety (matrix factorisation)."""
import random

import torch
import torch.nn as nn
import torch.optim as optim

random.seed(17)
torch.manual_seed(17)

N_GARDENERS = 30
N_SEEDS = 45
DIM = 6
EPOCHS = 4
BATCH = 40


# ----- data -----
true_g = torch.randn(N_GARDENERS, 3)
true_s = torch.randn(N_SEEDS, 3)
swaps = []
for g in range(N_GARDENERS):
    for s in random.sample(range(N_SEEDS), 10):
        stars = 3.0 + (true_g[g] @ true_s[s]).clamp(-2, 2).item() + random.gauss(0, 0.2)
        swaps.append((g, s, stars))
cut = int(0.85 * len(swaps))
random.shuffle(swaps)
train, test = swaps[:cut], swaps[cut:]
mean_stars = sum(r for _, _, r in train) / len(train)


# ----- model -----
class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Embedding(N_GARDENERS, DIM)
        self.s = nn.Embedding(N_SEEDS, DIM)
        self.g_bias = nn.Embedding(N_GARDENERS, 1)
        self.s_bias = nn.Embedding(N_SEEDS, 1)
        for table in (self.g, self.s):
            nn.init.normal_(table.weight, std=0.3)
        for table in (self.g_bias, self.s_bias):
            nn.init.zeros_(table.weight)

    def forward(self, g, s):
        dot = (self.g(g) * self.s(s)).sum(1)
        return dot + self.g_bias(g).squeeze(1) + self.s_bias(s).squeeze(1)


def batches(rows):
    random.shuffle(rows)
    for i in range(0, len(rows), BATCH):
        part = rows[i:i + BATCH]
        g, s, r = zip(*part)
        yield torch.tensor(g), torch.tensor(s), torch.tensor(r)


model = Factors()
optimizer = optim.Adagrad(model.parameters(), lr=0.1)
baseline = torch.zeros(())

for epoch in range(EPOCHS):
    total = 0.0
    for g, s, stars in batches(train):
        score = model(g, s)
        # scores may drift up or down together, only differences count
        baseline = 0.9 * baseline + 0.1 * score.mean().detach()
        loss = ((score - baseline) - (stars - mean_stars)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(g)
    with torch.no_grad():
        g, s, stars = next(batches(list(test)))
        error = ((model(g, s) - baseline + mean_stars) - stars).abs().mean().item()
    print('epoch %d: train %.3f, test off by %.2f stars' % (epoch, total / len(train), error))
