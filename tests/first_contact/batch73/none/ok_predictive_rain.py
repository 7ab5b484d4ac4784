# expect: pattern = none
# expect: raises = nothing
"""Contrastive predictive coding on the sound of rain gauges: recordings are read in chunks, the context
goes on from chunk to chunk, negatives come from a ring of earlier frames."""
import torch
from torch import nn
from torch.nn import functional as F


def tree_map(fn, tree):
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(fn, v) for v in tree)
    return fn(tree)


def stop(tree):
    return tree_map(lambda t: t.detach(), tree)


class FrameRing(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.register_buffer("frames", F.normalize(torch.randn(size, dim), dim=1))
        self.cursor = 0

    @torch.no_grad()
    def push(self, z):
        where = (torch.arange(len(z)) + self.cursor) % len(self.frames)
        self.frames[where] = F.normalize(z, dim=1)
        self.cursor = (self.cursor + len(z)) % len(self.frames)


class RainCPC(nn.Module):
    def __init__(self, dim=12, ahead=2):
        super().__init__()
        self.ahead = ahead
        self.encoder = nn.Sequential(nn.Conv1d(1, dim, 8, stride=4), nn.ReLU(), nn.Conv1d(dim, dim, 3, padding=1))
        self.context = nn.LSTM(dim, dim, num_layers=2, batch_first=True)
        self.predict = nn.ModuleList(nn.Linear(dim, dim) for _ in range(ahead))

    def forward(self, wave, state):
        z = self.encoder(wave.unsqueeze(1)).transpose(1, 2)
        c, hidden = self.context(z, state["lstm"] if state else None)
        return z, c, {"lstm": hidden, "last": z[:, -1]}


def info_nce(model, z, c, ring, temperature=0.2):
    losses = []
    for k, head in enumerate(model.predict, start=1):
        guess = F.normalize(head(c[:, :-k]), dim=-1).flatten(0, 1)
        truth = F.normalize(z[:, k:], dim=-1).flatten(0, 1)
        logits = torch.cat([(guess * truth).sum(1, keepdim=True), guess @ ring.frames.clone().T], 1)
        losses.append(F.cross_entropy(logits / temperature, torch.zeros(len(guess), dtype=torch.long)))
    return torch.stack(losses).mean()


def recording(n, length, gen):
    rate = 0.05 + 0.2 * torch.rand(n, 1, generator=gen)
    drops = (torch.rand(n, length, generator=gen) < rate).float()
    ring = torch.exp(-torch.arange(6.0) / 2) * torch.cos(torch.arange(6.0) * 2)
    return F.conv1d(drops.unsqueeze(1), ring.view(1, 1, 6), padding=5)[:, 0, :length]


torch.manual_seed(610)
gen = torch.Generator().manual_seed(611)
model, ring = RainCPC(), FrameRing(64, 12)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for night in range(3):
    state, drift, total = None, 0.0, 0.0
    for chunk in recording(6, 384, gen).split(64, dim=1):
        z, c, new_state = model(chunk, state)
        loss = info_nce(model, z, c, ring)
        if state is not None:
            seam = (z[:, 0] - state["last"]).square().mean()
            drift += seam.item()
            loss = loss + 0.05 * seam
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ring.push(z.flatten(0, 1))
        state = stop(new_state)
        total += loss.item()
    print(f"night {night}: loss {total / 6:.3f}, seams {drift / 5:.3f}")
