import torch
import torch.nn as nn


def random_molecule(gen, atoms=7):
    kinds = torch.randint(0, 3, (atoms,), generator=gen)
    chain = torch.stack([torch.arange(atoms - 1), torch.arange(1, atoms)])
    extra = torch.randint(0, atoms, (2, 2), generator=gen)
    bonds = torch.cat([chain, chain.flip(0), extra], dim=1)
    order = torch.randint(1, 3, (bonds.shape[1],), generator=gen).float()
    energy = (kinds.float().sum() - 0.3 * (order * (kinds[bonds[0]] != kinds[bonds[1]])).sum()) / atoms
    return kinds, bonds, order.unsqueeze(1), energy


class BondLayer(nn.Module):
    """Messages along bonds; afterwards the bonds look at their two new ends."""

    def __init__(self, dim):
        super().__init__()
        self.message = nn.Linear(2 * dim, dim)
        self.atom_update = nn.Linear(2 * dim, dim)
        self.bond_update = nn.Linear(3 * dim, dim)

    def forward(self, atoms, bond_feats, bonds):
        src, dst = bonds
        msg = torch.relu(self.message(torch.cat([atoms[src], bond_feats], 1)))
        pooled = torch.zeros_like(atoms).index_add(0, dst, msg)
        atoms = atoms + torch.tanh(self.atom_update(torch.cat([atoms, pooled], 1)))
        ends = torch.cat([atoms[src], atoms[dst], bond_feats], 1)
        return atoms, bond_feats + torch.tanh(self.bond_update(ends))


class BondNet(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.atom_in = nn.Embedding(3, dim)
        self.bond_in = nn.Linear(1, dim)
        self.layers = nn.ModuleList(BondLayer(dim) for _ in range(depth))
        self.out = nn.Linear(dim, 1)

    def forward(self, kinds, bonds, order):
        atoms, feats = self.atom_in(kinds), self.bond_in(order)
        for layer in self.layers:
            atoms, feats = layer(atoms, feats, bonds)
        return self.out(atoms).mean()


class Centred(torch.optim.Optimizer):
    """Descent with centred gradients and momentum."""

    def __init__(self, params, lr=0.02, momentum=0.8):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                if g.dim() > 1:
                    g = g - g.mean(dim=1, keepdim=True)
                buf = self.state[p].setdefault("speed", torch.zeros_like(p))
                buf.mul_(group["momentum"]).add_(g)
                p.add_(buf, alpha=-group["lr"])


def main():
    torch.manual_seed(5)
    gen = torch.Generator().manual_seed(5)
    molecules = [random_molecule(gen) for _ in range(12)]
    net = BondNet()
    weights = list(net.parameters())
    opt = Centred(weights)
    for epoch in range(10):
        loss = torch.stack([(net(k, b, o) - e) ** 2 for k, b, o, e in molecules]).mean()
        grads = torch.autograd.grad(loss, weights, allow_unused=True)
        size = torch.sqrt(sum(g.pow(2).sum() for g in grads if g is not None))
        for w, g in zip(weights, grads):
            w.grad = None if g is None else g / size.clamp_min(1.0)
        opt.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}, gradient norm {size.item():.3f}")


if __name__ == "__main__":
    main()
