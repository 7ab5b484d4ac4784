"""Energies and forces of small argon clusters with a learnt pair term."""
import torch
import torch.nn as nn


def lennard_jones(pos):
    d = torch.cdist(pos, pos) + 10 * torch.eye(pos.size(-2))
    i, j = torch.triu_indices(pos.size(-2), pos.size(-2), 1)
    s6 = (1.0 / d[..., i, j]) ** 6
    return 4 * (s6 ** 2 - s6).sum(-1)


class RadialBasis(nn.Module):
    def __init__(self, n=12, lo=0.8, hi=3.5):
        super().__init__()
        self.register_buffer("mu", torch.linspace(lo, hi, n))
        self.gamma = 0.5 * (n / (hi - lo)) ** 2

    def forward(self, d):
        return torch.exp(-self.gamma * (d.unsqueeze(-1) - self.mu) ** 2)


class PairPotential(nn.Module):
    def __init__(self, n=12, hidden=24):
        super().__init__()
        self.rbf = RadialBasis(n)
        self.mlp = nn.Sequential(nn.Linear(n, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, pos):
        atoms = pos.size(1)
        i, j = torch.triu_indices(atoms, atoms, 1)
        d = (pos[:, i] - pos[:, j]).norm(dim=-1)
        return self.mlp(self.rbf(d)).sum(dim=(1, 2))


def clusters(n, atoms=4):
    base = torch.tensor([[0., 0., 0.], [1.12, 0., 0.], [0.56, 0.97, 0.], [0.56, 0.32, 0.92]])[:atoms]
    pos = base + 0.06 * torch.randn(n, atoms, 3)
    pos.requires_grad_(True)
    e = lennard_jones(pos)
    f = -torch.autograd.grad(e.sum(), pos)[0]
    return pos.detach(), e.detach(), f


class Fitter:
    def __init__(self, model, w_force=10.0, lr=2e-3):
        self.model = model
        self.w_force = w_force
        self.opt = torch.optim.Adam(model.parameters(), lr=lr, amsgrad=True)

    def predict(self, pos):
        pos = pos.clone().requires_grad_(True)
        energy = self.model(pos)
        forces = -torch.autograd.grad(energy.sum(), pos, create_graph=True)[0]
        return energy, forces

    def step(self, batch):
        pos, e_ref, f_ref = batch
        energy, forces = self.predict(pos)
        loss = (energy - e_ref).pow(2).mean() + self.w_force * (forces - f_ref).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item(), (forces - f_ref).abs().mean().item()


torch.manual_seed(4)
pos, e, f = clusters(160)
e = e - e.mean()
fitter = Fitter(PairPotential())
for epoch in range(4):
    order = torch.randperm(len(pos)).split(40)
    stats = [fitter.step((pos[b], e[b], f[b])) for b in order]
    print(epoch, "loss %.3f  force mae %.3f" % tuple(sum(s) / len(s) for s in zip(*stats)))
