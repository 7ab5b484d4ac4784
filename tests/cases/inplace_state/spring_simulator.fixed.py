# differentiable springs: fit the rest length from a recorded trajectory
import torch

torch.manual_seed(0)


class Simulator:
    def __init__(self, n, dt=0.02):
        self.n, self.dt = n, dt
        self.rest = torch.tensor(0.8, requires_grad=True)
        self.k = torch.tensor(5.0, requires_grad=True)

    def reset(self):
        self.pos = torch.stack([torch.linspace(0, 1, self.n), torch.zeros(self.n)], dim=1)
        self.vel = torch.zeros(self.n, 2)

    def force(self):
        diff = self.pos[1:] - self.pos[:-1]
        length = (diff * diff).sum(1, keepdim=True).add(1e-6).sqrt()
        f = self.k * (length - self.rest) * diff / length
        total = torch.zeros_like(self.pos)
        total[:-1] += f
        total[1:] -= f
        return total

    def step(self):
        self.vel += self.dt * self.force()
        self.vel = self.vel * (0.995 / (1 + self.dt * self.vel.norm(dim=1, keepdim=True)))
        self.pos += self.dt * self.vel

    def rollout(self, steps):
        self.reset()
        frames = []
        for _ in range(steps):
            self.step()
            frames.append(self.pos)
        return torch.stack(frames)


sim = Simulator(6)
target = torch.cumsum(torch.randn(8, 6, 2) * 0.01, 0)
opt = torch.optim.Adam([sim.rest, sim.k], lr=0.05)
for epoch in range(3):
    traj = sim.rollout(8)
    loss = (traj - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, float(loss), float(sim.rest), float(sim.k))
