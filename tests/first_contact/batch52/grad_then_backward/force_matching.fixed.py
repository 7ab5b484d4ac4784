


"""Energy + force matching for a small pair-descriptor potential (LJ clusters as 'DFT')."""
import argparse

import torch
from torch import nn
from torch.autograd import grad


def lj_energy(pos):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], offset=1)
    r2 = (pos[:, i] - pos[:, j]).pow(2).sum(-1) + 0.3
    s6 = r2.reciprocal().pow(3)
    return (4 * (s6 * s6 - s6)).sum(-1)


def build_dataset(n_conf, n_atoms):
    base = torch.tensor([[0, 0, 0], [1.2, 0, 0], [0, 1.2, 0], [0, 0, 1.2], [1.2, 1.2, 0.0]])
    pos = base[:n_atoms] + 0.06 * torch.randn(n_conf, n_atoms, 3)
    pos.requires_grad_(True)
    e = lj_energy(pos)
    f = -grad(e.sum(), pos)[0]
    return pos.detach(), (e - e.mean()).detach(), f.detach()


class RadialBasis(nn.Module):
    def __init__(self, n_basis=10, cutoff=3.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, cutoff, n_basis))
        self.gamma = nn.Parameter(torch.tensor(4.0))

    def forward(self, r):
        return torch.exp(-self.gamma * (r[..., None] - self.centers) ** 2)


class PairNet(nn.Module):
    """per-atom energies from summed radial features"""

    def __init__(self, hidden=24):
        super().__init__()
        self.rbf = RadialBasis()
        self.mlp = nn.Sequential(nn.Linear(10, hidden), nn.SiLU(), nn.Linear(hidden, 1))
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, pos):
        n = pos.shape[1]
        diff = pos[:, :, None] - pos[:, None]
        off = ~torch.eye(n, dtype=torch.bool)
        r = diff[:, off].view(len(pos), n, n - 1, 3).norm(dim=-1)
        return self.mlp(self.rbf(r).sum(2)).sum((1, 2)) + self.shift


def predict(model, pos):
    pos = pos.clone().requires_grad_(True)
    energy = model(pos)
    forces = -grad(energy.sum(), pos, create_graph=True)[0]
    return energy, forces


def run(args):
    torch.manual_seed(args.seed)
    pos, e_ref, f_ref = build_dataset(args.n_conf, 5)
    model = PairNet()
    optim = torch.optim.Adam(model.parameters(), lr=args.lr)
    n_train = int(0.8 * args.n_conf)
    for epoch in range(args.epochs):
        perm = torch.randperm(n_train)
        for idx in perm.split(args.batch_size):
            energy, forces = predict(model, pos[idx])
            loss_e = (energy - e_ref[idx]).pow(2).mean()
            loss_f = (forces - f_ref[idx]).pow(2).mean()
            loss = args.w_energy * loss_e + args.w_force * loss_f
            optim.zero_grad()
            loss.backward()
            optim.step()
        e_val, f_val = predict(model, pos[n_train:])
        mae = (f_val.detach() - f_ref[n_train:]).abs().mean()
        print(f"{epoch:3d}  E {loss_e.item():.4f}  F {loss_f.item():.4f}  val F-MAE {mae:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-conf", type=int, default=80)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--w-energy", type=float, default=0.2)
    parser.add_argument("--w-force", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=3)
    run(parser.parse_args())
