# expect: pattern = none
# expect: raises = nothing
"""Re-identify butterflies by wing pattern: contrastive loss with a cross-batch memory.

The memory is a plain buffer that is overwritten in place, row block by row block.
"""
import torch
from torch import nn
import torch.nn.functional as F


class CrossBatchMemory(nn.Module):
    def __init__(self, capacity, dim):
        super().__init__()
        self.register_buffer("keys", torch.zeros(capacity, dim))
        self.register_buffer("who", torch.full((capacity,), -1))
        self.head = 0

    def enqueue(self, emb, ident):
        rows = torch.arange(self.head, self.head + len(emb)) % len(self.keys)
        self.keys[rows] = emb.detach()
        self.who[rows] = ident
        self.head = int(rows[-1] + 1) % len(self.keys)

    def valid(self):
        full = self.who >= 0
        return self.keys[full], self.who[full]


class WingEncoder(nn.Module):
    def __init__(self, spots, dim):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.gate = nn.Linear(32, 1, bias=False)
        self.proj = nn.Linear(32, dim)
        self.log_temp = nn.Parameter(torch.tensor(-1.5))

    def forward(self, wing):
        h = self.point(wing)
        pooled = (h * self.gate(h).softmax(dim=1)).sum(dim=1)
        return F.normalize(self.proj(pooled), dim=1)


class Album:
    def __init__(self, individuals=30, spots=9, seed=5):
        self.g = torch.Generator().manual_seed(seed)
        self.base = torch.randn(individuals, spots, 3, generator=self.g)

    def draw(self, n):
        ident = torch.randint(len(self.base), (n,), generator=self.g)
        noise = 0.15 * torch.randn(n, *self.base.shape[1:], generator=self.g)
        return self.base[ident] + noise, ident


def supcon(query, keys, same, temp):
    """Mean log-probability of the positives; queries without one are left out."""
    logits = query @ keys.T / temp
    logp = logits - logits.logsumexp(dim=1, keepdim=True)
    has = same.any(dim=1)
    per = -(logp * same).sum(1)[has] / same.sum(1)[has]
    return per.mean()


def main(steps=60, batch=24, dim=12):
    torch.manual_seed(10)
    album, enc = Album(), WingEncoder(9, dim)
    memory = CrossBatchMemory(120, dim)
    opt = torch.optim.AdamW(enc.parameters(), lr=4e-3)
    smooth = None
    for step in range(steps):
        wing, ident = album.draw(batch)
        emb = enc(wing)
        temp = enc.log_temp.exp()
        diag = torch.eye(batch, dtype=torch.bool)
        same = (ident[:, None] == ident[None, :]) & ~diag
        loss = supcon(emb, emb, same, temp) if step < 5 else 0.0
        if step >= 5:
            keys, who = memory.valid()
            loss = supcon(emb, torch.cat([keys, emb]),
                          torch.cat([ident[:, None] == who[None, :], same], dim=1), temp)
        opt.zero_grad()
        loss.backward()
        opt.step()
        memory.enqueue(emb, ident)
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        if step % 12 == 11:
            print(f"step {step + 1:3d}  loss {smooth:.3f}  temperature {temp.item():.3f}")
    with torch.no_grad():
        a, who_a = album.draw(60)
        b, who_b = album.draw(60)
        hit = who_b[(enc(a) @ enc(b).T).argmax(1)] == who_a
    print("top-1 %.2f" % hit.float().mean().item())


if __name__ == "__main__":
    main()
