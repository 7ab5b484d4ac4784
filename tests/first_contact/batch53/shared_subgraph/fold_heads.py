# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = single, rep, pair
"""Toy structure module: one residue encoder, a distogram head and a torsion head.
Every objective is a small object that knows its weight and how to score itself."""
import math

import torch
from torch import nn
import torch.nn.functional as F

AA = 20
BINS = 6


def fake_chains(n, length, gen):
    seq = torch.randint(0, AA, (n, length), generator=gen)
    # "truth" depends on residue type so there is something to learn
    hydro = torch.linspace(-1, 1, AA)[seq]
    dist = (hydro[:, :, None] - hydro[:, None, :]).abs()
    bins = (dist / 2.0 * (BINS - 1)).round().long()
    phi = hydro * math.pi / 2
    return seq, bins, torch.stack([phi.sin(), phi.cos()], dim=-1)


class ResidueEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(AA, d)
        self.mix = nn.Conv1d(d, d, kernel_size=3, padding=1)
        self.norm = nn.LayerNorm(d)

    def forward(self, seq):
        e = self.emb(seq)
        m = self.mix(e.transpose(1, 2)).transpose(1, 2)
        return self.norm(e + F.gelu(m))


class Distogram(nn.Module):
    key, weight = "distogram", 0.5

    def __init__(self, d):
        super().__init__()
        self.left, self.right = nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, BINS)

    def forward(self, rep, batch):
        pair = self.left(rep)[:, :, None] + self.right(rep)[:, None, :]
        logits = self.out(torch.relu(pair))
        return F.cross_entropy(logits.flatten(0, 2), batch["bins"].flatten())


class Torsion(nn.Module):
    key, weight = "torsion", 1.0

    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 2))

    def forward(self, rep, batch):
        xy = F.normalize(self.net(rep), dim=-1)
        return (1 - (xy * batch["angles"]).sum(-1)).mean()


class Fold(object):
    def __init__(self, d=24, lr=3e-3):
        self.encoder = ResidueEncoder(d)
        self.objectives = [Distogram(d), Torsion(d)]
        heads = [p for o in self.objectives for p in o.parameters()]
        self.opt_body = torch.optim.Adam(self.encoder.parameters(), lr=lr)
        self.opt_heads = torch.optim.Adam(heads, lr=2 * lr)

    def train_batch(self, batch):
        self.opt_body.zero_grad()
        self.opt_heads.zero_grad()
        report = {}
        single = self.encoder(batch["seq"])  # expect: place
        for obj in self.objectives:
            loss = obj.weight * obj(single, batch)  # expect: place
            loss.backward()  # expect: place
            report[obj.key] = loss.item()
        self.opt_body.step()
        self.opt_heads.step()
        return report


if __name__ == "__main__":
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(3)
    fold = Fold()
    for it in range(30):
        seq, bins, angles = fake_chains(4, 18, gen)
        rep = fold.train_batch({"seq": seq, "bins": bins, "angles": angles})
        if it % 6 == 0 or it == 29:
            print(it, " ".join("%s=%.3f" % kv for kv in rep.items()))
