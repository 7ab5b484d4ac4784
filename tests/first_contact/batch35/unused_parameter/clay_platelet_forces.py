# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph
# expect: carrier = positions, x, forces
"""Energies and forces of stacks of clay platelets (coarse beads), several stacks of unequal size in one batch."""
import torch
from torch import nn
from torch.autograd import grad


class BeadNet(nn.Module):
    """Behler-style: radial symmetry functions, one small net, energy is the sum over beads."""

    def __init__(self, n_radial=8, cutoff=3.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, cutoff, n_radial))
        self.eta = 4.0
        self.cutoff = cutoff
        self.net = nn.Sequential(nn.Linear(n_radial, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def descriptors(self, pos):
        diff = pos.unsqueeze(0) - pos.unsqueeze(1)
        off = ~torch.eye(len(pos), dtype=torch.bool)
        dist = diff[off].norm(dim=-1).view(len(pos), len(pos) - 1)
        fc = 0.5 * (torch.cos(torch.pi * dist / self.cutoff) + 1) * (dist < self.cutoff)
        g = torch.exp(-self.eta * (dist.unsqueeze(-1) - self.centers) ** 2)
        return (g * fc.unsqueeze(-1)).sum(1)

    def forward(self, pos):
        return self.net(self.descriptors(pos)).squeeze(-1)


def reference(pos):
    d = torch.cdist(pos, pos) + 10 * torch.eye(len(pos))
    return (0.5 * ((1.2 / d) ** 4 - (1.2 / d) ** 2)).sum()


class Stacks:
    def __init__(self, sizes):
        self.items = []
        for n in sizes:
            pos = torch.cat([torch.rand(n, 2), torch.arange(n).view(-1, 1) * 1.1], 1) + 0.05 * torch.randn(n, 3)
            pos.requires_grad_(True)
            energy = reference(pos)
            force = -grad(energy, pos)[0]
            self.items.append((pos.detach(), energy.detach(), force))

    def collate(self, idx):
        chosen = [self.items[i] for i in idx]
        positions = torch.cat([c[0] for c in chosen])
        return positions, [len(c[0]) for c in chosen], torch.stack([c[1] for c in chosen]), [c[2] for c in chosen]


def loss_on_batch(model, batch, force_coefficient=0.1):
    positions, lengths, energies, forces = batch
    positions.requires_grad_(True)

    e_loss, f_loss, start = 0.0, 0.0, 0
    predicted = []
    for n in lengths:
        atomic = model(positions[start:start + n])
        predicted.append((start, start + n, atomic.sum()))
        start += n
    for (i0, i1, e), energy, force in zip(predicted, energies, forces):
        n = i1 - i0
        e_loss = e_loss + ((e - energy) / n) ** 2
        dedx = grad(e, positions[i0:i1], create_graph=True)[0]  # expect: place
        f_loss = f_loss + ((-dedx - force) ** 2).sum() / (3 * n)
    return (e_loss + force_coefficient * f_loss) / len(lengths)


torch.manual_seed(12)
data = Stacks([4, 6, 5, 7, 4, 5, 6, 8])
model = BeadNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    order = torch.randperm(8).tolist()
    for k in range(0, 8, 4):
        optimizer.zero_grad()
        loss = loss_on_batch(model, data.collate(order[k:k + 4]))
        loss.backward()
        optimizer.step()
    print(epoch, "%.4f" % loss.item())
