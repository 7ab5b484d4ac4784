# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = energy
"""Interatomic potential: pretrain on cheap DFT energies and forces, then fine-tune on a few CCSD(T) frames."""
import torch
from torch import nn


class RadialBasis(nn.Module):
    def __init__(self, n=12, cutoff=5.0):
        super().__init__()
        self.register_buffer("mu", torch.linspace(0.5, cutoff, n))
        self.cutoff = cutoff

    def forward(self, d):
        envelope = 0.5 * (torch.cos(torch.pi * d / self.cutoff) + 1.0) * (d < self.cutoff)
        return torch.exp(-4.0 * (d[..., None] - self.mu) ** 2) * envelope[..., None]


class Potential(nn.Module):
    def __init__(self, n_species=3, width=32, n_rbf=12, p_drop=0.1):
        super().__init__()
        self.species = nn.Embedding(n_species, width)
        self.rbf = RadialBasis(n_rbf)
        self.filter = nn.Sequential(nn.Linear(n_rbf, width), nn.SiLU(), nn.Linear(width, width))
        self.atomwise = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Dropout(p_drop), nn.Linear(width, 1))

    def forward(self, z, pos):
        pos = pos.requires_grad_(True)
        n = z.shape[1]
        rel = pos[:, :, None] - pos[:, None, :]
        off = ~torch.eye(n, dtype=torch.bool)
        dist = (rel.square().sum(-1) + 1e-9).sqrt()
        w = self.filter(self.rbf(dist)) * off[None, :, :, None]
        h = self.species(z)
        h = h + (w * h[:, None]).sum(2)
        energy = self.atomwise(h).sum((1, 2))  # expect: place
        (neg_forces,) = torch.autograd.grad(  # expect: place
            energy.sum(), pos,  # expect: place
            create_graph=self.training)  # expect: place
        return energy, -neg_forces


class Objective:
    def __init__(self, w_energy, w_force):
        self.w_energy, self.w_force = w_energy, w_force

    def __call__(self, model, frames):
        energy, forces = model(frames["z"], frames["pos"].clone())  # expect: place
        e = (energy - frames["energy"]).square().mean()
        f = (forces - frames["forces"]).square().mean()
        return self.w_energy * e + self.w_force * f


def morse_frames(n_frames, n_atoms, depth, gen):
    """Reference data with an analytic pair potential."""
    z = torch.randint(3, (n_frames, n_atoms), generator=gen)
    pos = torch.randn(n_frames, n_atoms, 3, generator=gen) * 1.6
    p = pos.clone().requires_grad_(True)
    i, j = torch.triu_indices(n_atoms, n_atoms, 1)
    d = (p[:, i] - p[:, j]).norm(dim=-1)
    e = (depth * ((1 - torch.exp(-(d - 1.5))) ** 2 - 1)).sum(1)
    (g,) = torch.autograd.grad(e.sum(), p)
    return {"z": z, "pos": pos, "energy": e.detach(), "forces": -g}


def fit(model, frames, objective, lr, epochs, tag):
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(epochs):
        opt.zero_grad()
        loss = objective(model, frames)
        loss.backward()  # expect: place
        opt.step()
    print(f"{tag}: {loss.item():.4f}")


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(17)
    model = Potential()

    model.train()
    fit(model, morse_frames(24, 6, 0.20, gen), Objective(0.1, 1.0), lr=2e-3, epochs=12, tag="pretrain")

    # only eight frames at this level of theory, dropout would be too much noise
    model.eval()  # expect: place
    fit(model, morse_frames(8, 6, 0.26, gen), Objective(0.01, 1.0), lr=5e-4, epochs=8, tag="fine-tune")


main()
