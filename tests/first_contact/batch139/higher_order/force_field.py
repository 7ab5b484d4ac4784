# expect: pattern = higher-order
# expect: also = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = energy, forces, pred_energy, pred_forces
"""Fit a small message-passing potential to energies and forces."""
import logging

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("potential")

CONFIG = {
    "n_atoms": 5, "n_frames": 24, "hidden": 16, "n_rbf": 8, "cutoff": 4.0, "n_layers": 2,
    "batch_size": 8, "epochs": 3, "lr": 5e-3, "energy_weight": 1.0, "force_weight": 10.0,
}


class RadialBasis(nn.Module):
    def __init__(self, n_rbf, cutoff):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, cutoff, n_rbf))
        self.cutoff = cutoff

    def forward(self, dist):
        envelope = 0.5 * (torch.cos(torch.pi * dist / self.cutoff) + 1) * (dist < self.cutoff)
        return torch.exp(-2.0 * (dist.unsqueeze(-1) - self.centers) ** 2) * envelope.unsqueeze(-1)


class Interaction(nn.Module):
    def __init__(self, hidden, n_rbf):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.update = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden))

    def forward(self, h, rbf, src, dst):
        msg = h[:, src] * self.filter(rbf)
        agg = torch.zeros_like(h).index_add(1, dst, msg)
        return h + self.update(agg)


class Potential(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embedding = nn.Embedding(3, cfg["hidden"])
        self.rbf = RadialBasis(cfg["n_rbf"], cfg["cutoff"])
        self.layers = nn.ModuleList(Interaction(cfg["hidden"], cfg["n_rbf"]) for _ in range(cfg["n_layers"]))
        self.readout = nn.Sequential(nn.Linear(cfg["hidden"], cfg["hidden"]), nn.SiLU(), nn.Linear(cfg["hidden"], 1))

    def forward(self, z, pos):
        pos.requires_grad_(True)
        src, dst = (~torch.eye(pos.shape[1], dtype=torch.bool)).nonzero(as_tuple=True)
        rbf = self.rbf((pos[:, src] - pos[:, dst]).norm(dim=-1))
        h = self.embedding(z)
        for layer in self.layers:
            h = layer(h, rbf, src, dst)
        energy = self.readout(h).sum(dim=(1, 2))
        forces = -torch.autograd.grad(energy.sum(), pos)[0]  # expect: place
        return energy, forces


class EnergyForceLoss(nn.Module):
    def __init__(self, energy_weight, force_weight):
        super().__init__()
        self.energy_weight, self.force_weight = energy_weight, force_weight

    def forward(self, pred_energy, pred_forces, energy, forces):
        e_loss = nn.functional.mse_loss(pred_energy, energy)
        f_loss = nn.functional.mse_loss(pred_forces, forces)
        return self.energy_weight * e_loss + self.force_weight * f_loss, e_loss.item(), f_loss.item()


def make_dataset(cfg):
    """Harmonic springs between all pairs: the analytic forces are the labels."""
    z = torch.randint(0, 3, (cfg["n_frames"], cfg["n_atoms"]))
    pos = torch.randn(cfg["n_frames"], cfg["n_atoms"], 3)
    delta = pos.unsqueeze(2) - pos.unsqueeze(1)
    energy = 0.05 * delta.pow(2).sum(dim=(1, 2, 3)) / 2
    return torch.utils.data.TensorDataset(z, pos, energy, -0.1 * delta.sum(2))


def train(cfg):
    loader = torch.utils.data.DataLoader(make_dataset(cfg), batch_size=cfg["batch_size"], shuffle=True)
    model = Potential(cfg)
    criterion = EnergyForceLoss(cfg["energy_weight"], cfg["force_weight"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(cfg["epochs"]):
        for z, pos, energy, forces in loader:
            pred_energy, pred_forces = model(z, pos)  # expect: place
            loss, e_loss, f_loss = criterion(pred_energy, pred_forces, energy, forces)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimizer.step()
        scheduler.step()
        log.info("epoch %d energy %.4f force %.4f", epoch, e_loss, f_loss)


if __name__ == "__main__":
    torch.manual_seed(0)
    train(CONFIG)
