# Self-training: soft labels from the network itself serve for several inner epochs.
import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm


def sharpen(p, temperature):
    p = p ** (1 / temperature)
    return p / p.sum(dim=1, keepdim=True)


def self_train(model, optimizer, labelled, unlabelled, inner=2, size=8):
    x, y = labelled
    pseudo = sharpen(F.softmax(model(unlabelled), dim=1), 0.5).detach()
    for _ in range(inner):
        for start in range(0, len(unlabelled), size):
            u = unlabelled[start : start + size]
            logp = F.log_softmax(model(u + 0.1 * torch.randn_like(u)), dim=1)
            unsupervised = -(pseudo[start : start + size] * logp).sum(1).mean()
            loss = F.cross_entropy(model(x), y) + unsupervised
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for generation in tqdm(range(2), disable=True):
    x = torch.randn(6, 4)
    print(self_train(model, optimizer, (x, x[:, :3].argmax(1)), torch.randn(16, 4)))
