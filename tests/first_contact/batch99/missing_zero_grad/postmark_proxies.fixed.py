"""Which post office struck this postmark? Embeddings learnt against one proxy an office."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

OFFICES, SEEN, DIM = 12, 8, 16


def strike(office, n, gen):
    """Features of a ring: diameters, bars, letter angles, as one would measure them."""
    base = torch.Generator().manual_seed(100 + office)
    ideal = torch.randn(24, generator=base)
    inking = 0.6 + 0.8 * torch.rand(n, 1, generator=gen)
    turned = torch.randn(n, 1, generator=gen)
    x = ideal * inking + 0.5 * torch.randn(n, 24, generator=gen)
    x[:, :6] += turned
    return x, torch.full((n,), office)


def album(offices, n, gen):
    parts = [strike(o, n, gen) for o in offices]
    return torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts])


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 48, bias=False), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, DIM))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class ProxyLoss(nn.Module):
    def __init__(self, classes, dim, margin=0.1, alpha=12.0):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(classes, dim))
        self.margin, self.alpha = margin, alpha

    def forward(self, emb, y):
        cos = emb @ F.normalize(self.proxies, dim=1).T
        hot = F.one_hot(y, len(self.proxies)).bool()
        pull = torch.where(hot, -self.alpha * (cos - self.margin), -torch.inf)
        push = torch.where(hot, -torch.inf, self.alpha * (cos + self.margin))
        zero = torch.zeros(1, cos.shape[1])
        present = hot.any(0).sum().clamp(min=1)
        return (torch.logsumexp(torch.cat([pull, zero]), 0).sum() / present
                + torch.logsumexp(torch.cat([push, zero]), 0).mean())


def recall_at_1(embedder, x, y):
    embedder.eval()
    with torch.no_grad():
        e = embedder(x)
    embedder.train()
    sim = e @ e.T
    sim.fill_diagonal_(-2.0)
    return (y[sim.argmax(1)] == y).float().mean().item()


def train(epochs=6, batch=32, seed=2):
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    x, y = album(range(SEEN), 32, gen)
    new_x, new_y = album(range(SEEN, OFFICES), 20, gen)
    embedder, criterion = Embedder(), ProxyLoss(SEEN, DIM)
    optimizer = torch.optim.SGD([
        {"params": embedder.parameters(), "lr": 0.02, "weight_decay": 1e-4},
        {"params": criterion.parameters(), "lr": 0.2},
    ], momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    best, keep = 0.0, None
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(x), generator=gen).split(batch):
            optimizer.zero_grad()
            loss = criterion(embedder(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        sched.step()
        recall = recall_at_1(embedder, new_x, new_y)
        if recall > best:
            best, keep = recall, copy.deepcopy(embedder.state_dict())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, recall@1 on new offices {recall:.3f}")
    embedder.load_state_dict(keep)
    return embedder, best


if __name__ == "__main__":
    _, best = train()
    print(f"kept the one with {best:.3f}")
