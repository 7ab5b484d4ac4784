# expect: pattern = grad-then-backward
# expect: also = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = energy, e, forces
"""
Behler-type potential for small copper clusters, fitted to energies and forces
of a toy Morse reference.
"""
import torch
import torch.nn as nn

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

ETAS = torch.tensor([0.5, 1.0, 2.0, 4.0])
R_CUT = 4.0


def pair_distances(pos):
    """(B, N, 3) -> (B, N, N-1), the self distances are left out"""
    n = pos.size(1)
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    keep = i != j
    d = pos[:, i[keep]] - pos[:, j[keep]]
    return d.norm(dim=-1).view(pos.size(0), n, n - 1)


def symmetry_functions(pos):
    r = pair_distances(pos).unsqueeze(-1)
    fc = 0.5 * (torch.cos(torch.pi * r / R_CUT) + 1.0) * (r < R_CUT)
    return (torch.exp(-ETAS * (r - 1.5) ** 2) * fc).sum(2)


class AtomicNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(len(ETAS), hidden), nn.Softplus(),
                                 nn.Linear(hidden, hidden), nn.Softplus(),
                                 nn.Linear(hidden, 1))

    def forward(self, pos):
        pos = pos.requires_grad_(True)
        e = self.net(symmetry_functions(pos)).sum(dim=(1, 2))
        # F = -dE/dR
        f = -torch.autograd.grad(e.sum(), pos)[0]  # expect: place
        return e, f


def morse(pos):
    pos = pos.clone().requires_grad_(True)
    x = torch.exp(-1.3 * (pair_distances(pos) - 1.6))
    e = 0.5 * (x ** 2 - 2 * x).sum(dim=(1, 2))
    f, = torch.autograd.grad(e.sum(), pos)
    return e.detach(), -f


class Dataset(torch.utils.data.Dataset):
    def __init__(self, n, atoms=4):
        corner = 1.6 * torch.tensor([[0., 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[:atoms]
        self.pos = corner + 0.15 * torch.randn(n, atoms, 3)
        self.e, self.f = morse(self.pos)

    def __len__(self):
        return len(self.e)

    def __getitem__(self, k):
        return self.pos[k], self.e[k], self.f[k]


def main():
    loader = torch.utils.data.DataLoader(Dataset(48), batch_size=16, shuffle=True)
    model = AtomicNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rho = 10.0
    for epoch in range(4):
        mae_e = mae_f = 0.0
        for pos, e_ref, f_ref in loader:
            energy, forces = model(pos)  # expect: place
            loss = (energy - e_ref).pow(2).mean() + rho * (forces - f_ref).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
            mae_e += (energy - e_ref).abs().mean().item() / len(loader)
            mae_f += (forces - f_ref).abs().mean().item() / len(loader)
        print(f"epoch {epoch}  |dE| {mae_e:.4f}  |dF| {mae_f:.4f}")


main()
