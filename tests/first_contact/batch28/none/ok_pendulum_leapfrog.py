# expect: pattern = none
# Hamiltonian network, unrolled leapfrog: forces are gradients taken inside the forward.
import torch
import torch.nn as nn

torch.manual_seed(7)


class HamiltonianNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.potential = nn.Sequential(nn.Linear(1, width), nn.Softplus(), nn.Linear(width, 1))
        self.log_mass = nn.Parameter(torch.zeros(1))

    def force(self, q):
        if not q.requires_grad:
            q = q.requires_grad_()
        v = self.potential(q).sum()
        return -torch.autograd.grad(v, q, create_graph=True)[0]

    def rollout(self, q, p, dt, steps):
        path = []
        f = self.force(q)
        for _ in range(steps):
            p = p + 0.5 * dt * f
            q = q + dt * p / self.log_mass.exp()
            f = self.force(q)
            p = p + 0.5 * dt * f
            path.append(torch.cat([q, p], dim=1))
        return torch.stack(path)


def truth(q, p, dt, steps, fine=20):
    path = []
    for _ in range(steps):
        for _ in range(fine):
            p = p - dt / fine * torch.sin(q)
            q = q + dt / fine * p
        path.append(torch.cat([q, p], dim=1))
    return torch.stack(path)


net = HamiltonianNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.98)
for it in range(30):
    q0 = (torch.rand(32, 1) - 0.5) * 3
    p0 = torch.randn(32, 1) * 0.5
    target = truth(q0, p0, 0.1, 6)
    path = net.rollout(q0, p0, 0.1, 6)
    drift = (path[-1, :, 1:] - target[-1, :, 1:]).pow(2).mean()
    loss = (path - target).pow(2).mean()
    (loss + 0.1 * drift).backward()
    opt.step()
    opt.zero_grad()
    sched.step()
    if it % 10 == 9:
        print(it, "loss %.5f drift %.5f" % (loss.item(), drift.item()))
