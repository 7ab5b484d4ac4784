# expect: pattern = none
# expect: raises = nothing
"""Contact and coordinate prediction with recycling, two optimizers and gradient accumulation."""
import copy
import random

import torch
from torch import nn
import torch.nn.functional as F

N_AA, BINS = 20, 6


def protein(length, g):
    seq = torch.randint(0, N_AA, (length,), generator=g)
    steps = torch.randn(length, 3, generator=g)
    xyz = torch.cumsum(F.normalize(steps + 0.1 * (seq[:, None] - 10), dim=1), 0)
    return seq, xyz - xyz.mean(0)


class Trunk(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.aa = nn.Embedding(N_AA, dim)
        self.single_norm = nn.LayerNorm(dim)
        self.bins = nn.Linear(BINS, 1)
        self.qk = nn.Linear(dim, 2 * dim)
        self.mix = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.register_buffer("edges", torch.linspace(0.5, 5.5, BINS))

    def forward(self, seq, prev_single, prev_xyz):
        s = self.aa(seq) + self.single_norm(prev_single)
        dist = torch.cdist(prev_xyz, prev_xyz)
        bias = self.bins(torch.exp(-((dist[..., None] - self.edges) ** 2))).squeeze(-1)
        q, k = self.qk(s).chunk(2, -1)
        attn = torch.softmax(q @ k.T / q.shape[-1] ** 0.5 + bias, -1)
        return s + self.mix(torch.cat([s, attn @ s], -1))


class Structure(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.move = nn.Linear(dim, 3)

    def forward(self, single):
        xyz = torch.cumsum(self.move(single), 0)
        return xyz - xyz.mean(0)


class Recycler:
    def __init__(self, trunk, structure):
        self.trunk, self.structure = trunk, structure

    def __call__(self, seq, n_cycles):
        single = torch.zeros(len(seq), 24)
        xyz = torch.zeros(len(seq), 3)
        for c in range(n_cycles):
            last = c == n_cycles - 1
            with torch.set_grad_enabled(last):
                # only the last pass is trained, as in the supplement
                single = self.trunk(seq, single.detach(), xyz.detach())
                xyz = self.structure(single)
        return single, xyz


@torch.no_grad()
def ema_update(shadow, net, decay):
    for a, b in zip(shadow.parameters(), net.parameters()):
        a.lerp_(b, 1 - decay)


def drmsd(pred, true):
    off = ~torch.eye(len(pred), dtype=torch.bool)
    return F.smooth_l1_loss(torch.cdist(pred, pred)[off], torch.cdist(true, true)[off])


def main():
    torch.manual_seed(12)
    rng = random.Random(12)
    g = torch.Generator().manual_seed(12)
    data = [protein(rng.randint(12, 20), g) for _ in range(8)]

    trunk, structure, contact = Trunk(), Structure(), nn.Bilinear(24, 24, 1)
    shadow = copy.deepcopy(trunk)
    fold = Recycler(trunk, structure)
    body = torch.optim.Adam([*trunk.parameters(), *structure.parameters()], lr=3e-3)
    head = torch.optim.RMSprop(contact.parameters(), lr=1e-2)

    for step in range(9):
        body.zero_grad()
        head.zero_grad()
        shown = 0.0
        for seq, true in rng.sample(data, 4):
            single, xyz = fold(seq, n_cycles=rng.randint(1, 3))
            loss = drmsd(xyz, true) / 4
            loss.backward(retain_graph=True)
            shown += loss.item()
            # the contact head reads the trunk but gets its own, smaller weight
            i, j = torch.triu_indices(len(seq), len(seq), offset=3)
            z = F.layer_norm(single, (24,))
            near = (true[i] - true[j]).norm(dim=1) < 3.0
            aux = F.binary_cross_entropy_with_logits(contact(z[i], z[j]).squeeze(1), near.float())
            (0.05 * aux / 4).backward()
        body.step()
        head.step()
        ema_update(shadow, trunk, decay=0.9)
        if step % 4 == 0:
            print(f"step {step}: distance loss {shown:.3f}, contact loss {aux.item():.3f}")


if __name__ == "__main__":
    main()
