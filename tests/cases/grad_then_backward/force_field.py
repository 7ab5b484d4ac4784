# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = energy, E
# Interatomic potential trained on energies and forces.
import torch
import torch.nn as nn


class PairPotential(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, pos):
        i, j = torch.triu_indices(pos.size(0), pos.size(0), offset=1)
        r = (pos[i] - pos[j]).norm(dim=1, keepdim=True)
        return self.mlp(1.0 / (r + 0.5)).sum()


def energy_and_forces(model, pos):
    pos = pos.clone().requires_grad_(True)
    energy = model(pos)
    forces = -torch.autograd.grad(energy, pos)[0]  # expect: place
    return energy, forces


torch.manual_seed(6)
model = PairPotential()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
frames = torch.randn(4, 5, 3)
for epoch in range(2):
    for pos in frames:
        energy, forces = energy_and_forces(model, pos)  # expect: place
        reference = pos.pow(2).sum()
        loss = (energy - reference).pow(2) + 10 * (forces + 2 * pos).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
