"""Accords of perfumes from their chromatogram: family, strength and tenacity from one trunk.

Each head keeps its own optimizer; the trunk sees the sum of what the heads send back. The norms of
the heads' contributions are logged, hence the separate backward passes.
"""
import torch
from torch import nn
from torch.nn import functional as F

PEAKS, FAMILIES = 32, 5


def bottles(n, gen):
    recipe = torch.Generator().manual_seed(55)
    accords = torch.rand(FAMILIES, PEAKS, generator=recipe)
    heavy = torch.linspace(0, 1, PEAKS)
    family = torch.randint(FAMILIES, (n,), generator=gen)
    dose = 0.3 + torch.rand(n, generator=gen)
    chroma = dose[:, None] * accords[family] * (0.6 + 0.8 * torch.rand(n, PEAKS, generator=gen))
    tenacity = (chroma * heavy).sum(1) / chroma.sum(1)
    return chroma, {"family": family, "strength": dose.log(), "tenacity": 8 * (tenacity - 0.5)}


class Perfumer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(PEAKS, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.heads = nn.ModuleDict({
            "family": nn.Linear(width, FAMILIES),
            "strength": nn.Linear(width, 1),
            "tenacity": nn.Linear(width, 1),
        })

    def losses(self, chroma, labels):
        smell = self.trunk(chroma)
        for name, head in self.heads.items():
            out = head(smell)
            if name == "family":
                yield name, F.cross_entropy(out, labels[name])
            else:
                yield name, F.mse_loss(out.squeeze(1), labels[name])


def trunk_norm(net):
    grads = [p.grad for p in net.trunk.parameters() if p.grad is not None]
    return torch.stack([g.norm() for g in grads]).norm().item() if grads else 0.0


def train_step(net, optimizers, chroma, labels):
    for optimizer in optimizers.values():
        optimizer.zero_grad()
    terms = list(net.losses(chroma, labels))
    log = {}
    for place, (name, loss) in enumerate(terms):
        loss.backward(retain_graph=place + 1 < len(terms))
        log[name] = loss.item()
        log[f"trunk after {name}"] = trunk_norm(net)
    for optimizer in optimizers.values():
        optimizer.step()
    return log


@torch.no_grad()
def nose(net, chroma, labels):
    smell = net.trunk(chroma)
    right = (net.heads["family"](smell).argmax(1) == labels["family"]).float().mean().item()
    off = (net.heads["tenacity"](smell).squeeze(1) - labels["tenacity"]).abs().mean().item()
    return right, off


def main():
    torch.manual_seed(13)
    gen = torch.Generator().manual_seed(13)
    chroma, labels = bottles(600, gen)
    test = bottles(200, gen)
    net = Perfumer()
    optimizers = {"trunk": torch.optim.Adam(net.trunk.parameters(), lr=3e-3)}
    for name, head in net.heads.items():
        optimizers[name] = torch.optim.Adam(head.parameters(), lr=5e-3)
    for epoch in range(6):
        for rows in torch.randperm(len(chroma)).split(50):
            log = train_step(net, optimizers, chroma[rows], {k: v[rows] for k, v in labels.items()})
        right, off = nose(net, *test)
        told = " ".join(f"{key} {value:.3f}" for key, value in log.items())
        print(f"epoch {epoch}: {told} | right {right:.2%}, tenacity off by {off:.3f}")


if __name__ == "__main__":
    main()
