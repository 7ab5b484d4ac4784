"""Energy and force training of a small continuous-filter potential on Morse
clusters.  The force error does not go down although its weight is large."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_parser():
    p = argparse.ArgumentParser(description="train a neural potential")
    p.add_argument("--n-atoms", type=int, default=5)
    p.add_argument("--features", type=int, default=16)
    p.add_argument("--rbf", type=int, default=12)
    p.add_argument("--cutoff", type=float, default=3.5)
    p.add_argument("--interactions", type=int, default=2)
    p.add_argument("--rho", type=float, default=0.95, help="weight of the forces in the loss")
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--n-train", type=int, default=32)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--ema-decay", type=float, default=0.9)
    p.add_argument("--seed", type=int, default=0)
    return p


def pair_distances(pos):
    n = pos.size(1)
    i, j = torch.triu_indices(n, n, 1)
    return (pos[:, i] - pos[:, j]).norm(dim=-1)


class MorseClusters:
    def __init__(self, args):
        gen = torch.Generator().manual_seed(args.seed)
        base = torch.randn(args.n_atoms, 3, generator=gen)
        base = base / base.norm(dim=-1, keepdim=True) * 1.4
        pos = base + 0.08 * torch.randn(args.n_train, args.n_atoms, 3, generator=gen)
        self.z = torch.randint(0, 2, (args.n_atoms,), generator=gen)
        self.pos = pos
        leaf = pos.clone().requires_grad_(True)
        energy = self.potential(leaf)
        self.force = -torch.autograd.grad(energy.sum(), leaf)[0]
        self.energy = ((energy - energy.mean()) / energy.std()).detach()
        self.force = self.force / energy.std().detach()
        self.gen = gen

    @staticmethod
    def potential(pos):
        return ((1 - torch.exp(1.2 - pair_distances(pos))) ** 2).sum(-1)

    def batches(self, size):
        for idx in torch.randperm(len(self.pos), generator=self.gen).split(size):
            yield self.pos[idx], self.energy[idx], self.force[idx]


class RadialBasis(nn.Module):
    def __init__(self, n_rbf, cutoff):
        super().__init__()
        self.register_buffer("offset", torch.linspace(0, cutoff, n_rbf))
        self.gamma, self.cutoff = 1.0 / (cutoff / n_rbf) ** 2, cutoff

    def forward(self, d):
        envelope = 0.5 * (torch.cos(d * torch.pi / self.cutoff) + 1) * (d < self.cutoff)
        return torch.exp(-self.gamma * (d.unsqueeze(-1) - self.offset) ** 2), envelope


class Interaction(nn.Module):
    def __init__(self, features, n_rbf):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(n_rbf, features), nn.Softplus(), nn.Linear(features, features))
        self.dense_in = nn.Linear(features, features, bias=False)
        self.dense_out = nn.Sequential(nn.Linear(features, features), nn.Softplus(), nn.Linear(features, features))

    def forward(self, x, rbf, envelope):
        w = self.filter(rbf) * envelope.unsqueeze(-1)
        return x + self.dense_out((w * self.dense_in(x).unsqueeze(1)).sum(2))


class Potential(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embedding = nn.Embedding(2, args.features)
        self.rbf = RadialBasis(args.rbf, args.cutoff)
        self.blocks = nn.ModuleList(Interaction(args.features, args.rbf) for _ in range(args.interactions))
        self.atomwise = nn.Sequential(nn.Linear(args.features, args.features), nn.Softplus(), nn.Linear(args.features, 1))

    def forward(self, z, pos):
        pos = pos.clone().requires_grad_(True)
        diff = pos.unsqueeze(2) - pos.unsqueeze(1)
        eye = torch.eye(pos.size(1))
        d = (diff.pow(2).sum(-1) + eye).sqrt()
        rbf, envelope = self.rbf(d)
        envelope = envelope * (1 - eye)
        x = self.embedding(z).expand(pos.size(0), -1, -1)
        for block in self.blocks:
            x = block(x, rbf, envelope)
        energy = self.atomwise(x).sum((1, 2))
        forces = -torch.autograd.grad(energy.sum(), pos, create_graph=True)[0]
        return energy, forces


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)


def tradeoff_loss(energy, forces, energy_ref, force_ref, rho):
    return (1 - rho) * F.mse_loss(energy, energy_ref) + rho * F.mse_loss(forces, force_ref)


def main():
    args = get_parser().parse_args([])
    torch.manual_seed(args.seed)
    data = MorseClusters(args)
    model = Potential(args)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 8, 0.5)
    ema = EMA(model, args.ema_decay)
    for epoch in range(args.epochs):
        e_mae, f_mae, n = 0.0, 0.0, 0
        for pos, energy_ref, force_ref in data.batches(args.batch_size):
            energy, forces = model(data.z, pos)
            loss = tradeoff_loss(energy, forces, energy_ref, force_ref, args.rho)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(model)
            e_mae += (energy - energy_ref).abs().mean().item()
            f_mae += (forces - force_ref).abs().mean().item()
            n += 1
        scheduler.step()
        print(f"epoch {epoch} energy MAE {e_mae / n:.4f} force MAE {f_mae / n:.4f}")


if __name__ == "__main__":
    main()
