


"""Genomic prediction in wheat: grain yield and protein content from SNP markers.

The two traits pull against each other, so the shared layers are trained with gradient surgery:
when the trait gradients conflict, each is projected off the other before they are added.
"""
import torch
import torch.nn as nn

torch.manual_seed(77)

MARKERS = 60
TRAITS = ("yield", "protein")


class TraitNet(nn.Module):
    def __init__(self, width=24):
        super(TraitNet, self).__init__()
        self.shared = nn.Sequential(nn.Linear(MARKERS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({trait: nn.Linear(width, 1) for trait in TRAITS})

    def forward(self, snps):
        h = self.shared(snps)
        return {trait: head(h).squeeze(1) for trait, head in self.heads.items()}


def flatten(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


class GradientSurgeon:
    """Collects the gradient of every task on the shared layers and writes back the merged one."""

    def __init__(self, shared):
        self.shared = list(shared)

    def collect(self, losses):
        grads = {}
        for i, (task, loss) in enumerate(losses.items()):
            for p in self.shared:
                if p.grad is not None:
                    p.grad.zero_()
            loss.backward(retain_graph=i < len(losses) - 1)
            grads[task] = [p.grad.detach() for p in self.shared]
        return grads

    def project(self, grads):
        flat = {task: flatten(g) for task, g in grads.items()}
        merged, conflicts = 0, 0
        for task, g in flat.items():
            g = g.clone()
            for other, h in flat.items():
                if other == task:
                    continue
                dot = torch.dot(g, h)
                if dot < 0:
                    conflicts += 1
                    g -= dot / h.pow(2).sum().clamp_min(1e-12) * h
            merged = merged + g
        return merged, conflicts

    def apply(self, losses):
        merged, conflicts = self.project(self.collect(losses))
        offset = 0
        for p in self.shared:
            p.grad = merged[offset:offset + p.numel()].view_as(p).clone()
            offset += p.numel()
        return conflicts


def breeding_panel(n):
    """Lines coded -1/0/1; some loci raise yield and lower protein (pleiotropy)."""
    snps = torch.randint(0, 3, (n, MARKERS)).float() - 1
    effect_yield = torch.randn(MARKERS) * (torch.rand(MARKERS) < 0.3)
    effect_protein = -0.6 * effect_yield + 0.8 * torch.randn(MARKERS) * (torch.rand(MARKERS) < 0.3)
    scale = MARKERS ** 0.5
    return snps, {
        "yield": (snps @ effect_yield) * 3 / scale + 0.1 * torch.randn(n),
        "protein": (snps @ effect_protein) * 3 / scale + 0.1 * torch.randn(n),
    }


def main():
    snps, traits = breeding_panel(192)
    net = TraitNet()
    surgeon = GradientSurgeon(net.shared.parameters())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    criterion = nn.MSELoss()
    for epoch in range(10):
        conflicts = 0
        sums = dict.fromkeys(TRAITS, 0.0)
        batches = torch.randperm(len(snps)).split(32)
        for rows in batches:
            optimizer.zero_grad()
            predicted = net(snps[rows])
            losses = {trait: criterion(predicted[trait], traits[trait][rows]) for trait in TRAITS}
            conflicts += surgeon.apply(losses)
            optimizer.step()
            for trait in TRAITS:
                sums[trait] += losses[trait].item() / len(batches)
        print("epoch", epoch, {k: round(v, 3) for k, v in sums.items()}, "conflicts", conflicts)


if __name__ == "__main__":
    main()
