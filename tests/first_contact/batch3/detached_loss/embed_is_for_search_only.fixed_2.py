"""Siamese matching with a cosine margin; the same `embed` serves training and search."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LOSSES = {}


def register(fn):
    LOSSES[fn.__name__] = fn
    return fn


@register
def contrastive(a, b, same, margin=0.5):
    d = 1 - F.cosine_similarity(a, b)
    return torch.where(same, d.pow(2), F.relu(margin - d).pow(2)).mean()


@register
def logistic(a, b, same, scale=5.0):
    return F.binary_cross_entropy_with_logits(scale * F.cosine_similarity(a, b), same.float())


class Encoder(nn.Module):
    def __init__(self, d_in=12, d=8):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d_in, 32), nn.Linear(32, d)])
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        x = F.relu(self.layers[0](x))
        return self.norm(self.layers[1](x))


class Matcher:
    def __init__(self, loss="contrastive"):
        self.encoder = Encoder()
        self.loss_fn = LOSSES[loss]
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=2e-3)

    def embed(self, x):
        return self.encoder(x)

    def fit_batch(self, a, b, same):
        loss = self.loss_fn(self.embed(a), self.embed(b), same)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def search(self, query, gallery, k=3):
        scores = F.normalize(self.embed(query), dim=1) @ F.normalize(self.embed(gallery), dim=1).t()
        return scores.topk(k).indices


def pairs(centers, n):
    i = torch.randint(0, len(centers), (n,))
    same = torch.rand(n) < 0.5
    j = torch.where(same, i, (i + 1) % len(centers))
    return centers[i] + 0.3 * torch.randn(n, 12), centers[j] + 0.3 * torch.randn(n, 12), same


if __name__ == "__main__":
    torch.manual_seed(91)
    centers = torch.randn(6, 12)
    matcher = Matcher("contrastive")
    for it in range(10):
        value = matcher.fit_batch(*pairs(centers, 32))
        if it % 3 == 0:
            print(it, round(value, 4))
    print(matcher.search(centers[:2], centers).tolist())
