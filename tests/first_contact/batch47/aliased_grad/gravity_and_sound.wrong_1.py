"""Joint inversion of a buried density profile from gravity and travel times.

The two misfits often disagree; conflicting parts of their gradients are projected away.
"""
import torch

DEPTHS = 20


class Ground(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.code = torch.nn.Parameter(torch.zeros(6))
        self.decoder = torch.nn.Sequential(
            torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, DEPTHS))

    def forward(self):
        return 2.0 + 0.5 * torch.tanh(self.decoder(self.code))


class Surveys:
    def __init__(self, truth):
        z = torch.linspace(0.1, 2.0, DEPTHS)
        offsets = torch.linspace(0.2, 3.0, 15)
        self.kernel = z / (z ** 2 + offsets[:, None] ** 2) ** 1.5 / DEPTHS
        self.paths = torch.tril(torch.ones(DEPTHS, DEPTHS)) / DEPTHS
        self.gravity = self.kernel @ truth + 0.002 * torch.randn(15)
        self.times = self.paths @ self.slowness(truth) + 0.002 * torch.randn(DEPTHS)

    @staticmethod
    def slowness(density):
        return 1.0 / (0.3 + 0.9 * density)

    def gravity_misfit(self, density):
        return 4 * (self.kernel @ density - self.gravity).pow(2).sum()

    def time_misfit(self, density):
        return 30 * (self.paths @ self.slowness(density) - self.times).pow(2).sum()


def flat(grads):
    return torch.cat([g.reshape(-1) for g in grads])


def without_conflict(own, other):
    """Remove from `own` the part that points against `other`."""
    dot = torch.dot(flat(own), flat(other))
    if dot >= 0:
        return list(own)
    scale = dot / flat(other).pow(2).sum().clamp_min(1e-12)
    return [a - scale * b for a, b in zip(own, other)]


def invert(rounds=60):
    torch.manual_seed(14)
    truth = 2.0 + 0.4 * torch.sin(torch.linspace(0, 6, DEPTHS))
    surveys = Surveys(truth)
    ground = Ground()
    params = list(ground.parameters())
    opt = torch.optim.SGD(params, lr=0.02, momentum=0.5)
    conflicts = 0
    for r in range(rounds):
        opt.zero_grad(set_to_none=False)
        heavy = surveys.gravity_misfit(ground())
        heavy.backward()
        pull = [p.grad.detach() for p in params]

        opt.zero_grad(set_to_none=False)
        late = surveys.time_misfit(ground())
        late.backward()
        echo = [p.grad.detach() for p in params]

        conflicts += int(torch.dot(flat(pull), flat(echo)) < 0)
        merged = [a + b for a, b in zip(without_conflict(pull, echo), without_conflict(echo, pull))]
        for p, g in zip(params, merged):
            p.grad.copy_(g)
        opt.step()
        if r % 15 == 0 or r == rounds - 1:
            off = (ground() - truth).abs().mean().item()
            print(f"{r:3d} gravity {heavy.item():.5f} times {late.item():.5f} "
                  f"profile error {off:.4f} conflicts {conflicts}")


invert()
