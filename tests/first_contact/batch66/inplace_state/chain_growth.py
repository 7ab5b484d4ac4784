# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = ca, tip, placed
"""Toy folding model: grow the C-alpha trace residue by residue, each one aware of what is already there."""
import torch
from torch import nn
import torch.nn.functional as F

AA = "ACDEFGHIKLMNPQRSTVWY"
STEP = 3.8  # angstrom between neighbouring C-alphas


def make_chain(length, g):
    """Random sequence and a compact walk whose turns depend on the residue type."""
    seq = torch.randint(0, len(AA), (length,), generator=g)
    direction = F.normalize(torch.randn(3, generator=g), dim=0)
    xyz = [torch.zeros(3)]
    for r in seq[1:].tolist():
        bend = 0.9 if AA[r] in "GPND" else 0.35
        direction = F.normalize(direction + bend * torch.randn(3, generator=g), dim=0)
        xyz.append(xyz[-1] + STEP * direction)
    return seq, torch.stack(xyz)


class TraceBuilder(nn.Module):
    def __init__(self, dim=32, n_rbf=8):
        super().__init__()
        self.embed = nn.Embedding(len(AA), dim)
        self.encoder = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.crowd = nn.Linear(n_rbf, dim)
        self.turn = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 3))
        self.register_buffer("rbf_centres", torch.linspace(3.0, 20.0, n_rbf))

    def crowding(self, tip, placed):
        d = torch.cdist(tip, placed).squeeze(1)  # expect: place
        return torch.exp(-((d[..., None] - self.rbf_centres) / 3.0) ** 2).sum(1)

    def forward(self, seq):
        n, length = seq.shape
        h, _ = self.encoder(self.embed(seq))
        ca = torch.zeros(n, length, 3)  # expect: place
        ca[:, 1, 0] = STEP
        for i in range(2, length):
            tip = ca[:, i - 1 : i]  # expect: place
            env = self.crowding(tip, ca[:, : i - 1])  # expect: place
            step = self.turn(h[:, i] + self.crowd(env))
            ca[:, i] = tip.squeeze(1) + STEP * F.normalize(step, dim=-1)  # expect: place
        return ca


def distance_loss(pred, true):
    iu = torch.triu_indices(pred.shape[1], pred.shape[1], offset=2)
    dp = (pred[:, iu[0]] - pred[:, iu[1]]).norm(dim=-1)
    dt = (true[:, iu[0]] - true[:, iu[1]]).norm(dim=-1)
    return F.smooth_l1_loss(dp, dt)


class Fold:
    def __init__(self, n_chains=8, length=14, lr=5e-3):
        g = torch.Generator().manual_seed(9)
        chains = [make_chain(length, g) for _ in range(n_chains)]
        self.seq = torch.stack([c[0] for c in chains])
        self.xyz = torch.stack([c[1] for c in chains])
        self.model = TraceBuilder()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def epoch(self):
        pred = self.model(self.seq)
        loss = distance_loss(pred, self.xyz)
        self.opt.zero_grad()
        loss.backward()  # expect: place
        self.opt.step()
        return loss.item()

    def run(self, epochs):
        for e in range(epochs):
            value = self.epoch()
            if e % 5 == 0:
                print(f"epoch {e}: dRMSD-like loss {value:.3f}")


if __name__ == "__main__":
    torch.manual_seed(2)
    Fold().run(15)
