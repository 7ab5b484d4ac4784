# expect: pattern = none
# expect: raises = nothing
"""Alloy properties (hardness, conductivity, melting point) from composition, tasks balanced by gradient norm."""
import torch
from torch import nn

TASKS = ("hardness", "conductivity", "melting")


class CompositionNet(nn.Module):
    def __init__(self, n_elements=12, width=40):
        super().__init__()
        self.element = nn.Parameter(torch.randn(n_elements, width) * 0.3)
        self.trunk = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.heads = nn.ModuleDict({t: nn.Linear(width, 1) for t in TASKS})

    def last_shared(self):
        return self.trunk[2].weight

    def forward(self, frac):
        mixed = frac @ self.element
        h = self.trunk(mixed) + mixed
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


class GradNormBalancer:
    """Keeps the tasks' pull on the last shared layer in proportion to how slowly they learn."""

    def __init__(self, alpha=1.0, lr=0.02):
        self.log_w = torch.zeros(len(TASKS), requires_grad=True)
        self.opt = torch.optim.Adam([self.log_w], lr=lr)
        self.alpha = alpha
        self.first = None

    @property
    def weights(self):
        return len(TASKS) * torch.softmax(self.log_w, 0)

    def update(self, losses, shared):
        now = torch.stack([l.detach() for l in losses])
        if self.first is None:
            self.first = now
        norms = torch.stack([torch.autograd.grad(l, shared, retain_graph=True)[0].norm() for l in losses])
        pull = self.weights * norms
        rate = now / self.first
        goal = (pull.mean() * (rate / rate.mean()) ** self.alpha).detach()
        self.opt.zero_grad()
        (pull - goal).abs().sum().backward()
        self.opt.step()


def catalogue(n, gen):
    frac = torch.distributions.Dirichlet(torch.full((12,), 0.4)).sample((n,))
    prop = torch.randn(12, 3, generator=gen)
    y = frac @ prop
    y[:, 0] += 3.0 * frac[:, 0] * frac[:, 1]
    y[:, 1] *= 0.1
    y[:, 2] *= 5.0
    return frac, y


def main():
    torch.manual_seed(64)
    gen = torch.Generator().manual_seed(4)
    frac, y = catalogue(384, gen)
    net, balancer = CompositionNet(), GradNormBalancer()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    accumulate = 2
    log = []
    for epoch in range(3):
        for n, idx in enumerate(torch.randperm(len(frac), generator=gen).split(64)):
            pred = net(frac[idx])
            losses = [(pred[t] - y[idx, k]).square().mean() for k, t in enumerate(TASKS)]
            balancer.update(losses, net.last_shared())
            w = balancer.weights.detach()
            total = sum(wk * lk for wk, lk in zip(w, losses)) / accumulate
            total.backward()
            log.append(total.detach())
            if (n + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 5.0)
                opt.step()
                opt.zero_grad()
        recent = torch.stack(log[-6:]).mean().item()
        print(f"epoch {epoch} total {recent:.4f} weights " + " ".join(f"{v:.2f}" for v in balancer.weights.tolist()))


if __name__ == "__main__":
    main()
