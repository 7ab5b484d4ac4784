# expect: pattern = detached-loss
# expect: also = starved-parameter
# expect: raises = nothing
# expect: carrier = loss, losses, dist_pos, dist_neg
"""Telling varieties of wheat grain apart by shape descriptors (triplet training).

Question: the loss just wobbles around the same value and the recall stays at chance.
"""
import random

import numpy as np
import torch
import torch.nn as nn

random.seed(21)
np.random.seed(21)
torch.manual_seed(21)


class EmbeddingNet(nn.Module):
    def __init__(self, in_dim=14, out_dim=8):
        super(EmbeddingNet, self).__init__()
        self.fc1 = nn.Linear(in_dim, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, out_dim)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        return nn.functional.normalize(self.fc2(x), dim=1)


class TripletLoss:
    def __init__(self, margin=0.3):
        self.margin = margin

    def __call__(self, emb, labels):
        losses = []
        for i in range(len(emb)):
            same = [j for j in range(len(emb)) if labels[j] == labels[i] and j != i]
            other = [j for j in range(len(emb)) if labels[j] != labels[i]]
            if not same or not other:
                continue
            pos, neg = random.choice(same), random.choice(other)
            dist_pos = torch.dist(emb[i], emb[pos])
            dist_neg = torch.dist(emb[i], emb[neg])
            losses.append(max(dist_pos - dist_neg + self.margin, 0.0))
        loss = torch.tensor(losses).mean()  # expect: place
        loss.requires_grad = True  # expect: place
        return loss


def grains(n):
    centers = np.random.RandomState(0).randn(4, 14)
    y = np.random.randint(0, 4, n)
    x = centers[y] + 0.8 * np.random.randn(n, 14)
    return torch.tensor(x, dtype=torch.float32), y.tolist()


x, y = grains(120)
model = EmbeddingNet()
criterion = TripletLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

model.train()
for epoch in range(6):
    running = []
    for k in range(0, 120, 30):
        optimizer.zero_grad()
        emb = model(x[k:k + 30])
        loss = criterion(emb, y[k:k + 30])  # expect: place
        loss.backward()
        optimizer.step()
        running.append(loss.item())
    print('epoch %d loss %.4f' % (epoch + 1, np.mean(running)))
