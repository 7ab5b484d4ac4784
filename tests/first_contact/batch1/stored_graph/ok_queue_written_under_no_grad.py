"""Contrastive learning with a queue of keys, written in place."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, dim=8, size=24, m=0.9, T=0.3):
        super().__init__()
        self.m, self.T = m, T
        self.query = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(size, dim), dim=1))
        self.register_buffer("ptr", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def _momentum(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.mul_(self.m).add_((1 - self.m) * q)

    @torch.no_grad()
    def _enqueue(self, keys):
        n, at = len(keys), int(self.ptr)
        self.queue[at:at + n] = keys
        self.ptr.fill_((at + n) % len(self.queue))

    def forward(self, xq, xk):
        q = F.normalize(self.query(xq), dim=1)
        with torch.no_grad():
            self._momentum()
            k = F.normalize(self.key(xk), dim=1)
        pos = (q * k).sum(1, keepdim=True)
        neg = q @ self.queue.clone().t()
        self._enqueue(k)
        logits = torch.cat([pos, neg], dim=1) / self.T
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))


def main():
    torch.manual_seed(9)
    model = MoCo()
    opt = torch.optim.Adam(model.query.parameters(), lr=5e-3)
    losses = []
    for _ in range(50):
        x = torch.randn(8, 6)
        loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print("loss %.3f -> %.3f" % (sum(losses[:5]) / 5, sum(losses[-5:]) / 5))


if __name__ == "__main__":
    main()
