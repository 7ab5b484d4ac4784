"""Twin critics, a delayed actor and slow targets, for keeping a greenhouse at 21 degrees."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, o))


class Greenhouse:
    def __init__(self):
        self.t, self.out = 17.0, 12.0

    def state(self):
        return torch.tensor([(self.t - 21) / 5, (self.out - 12) / 5])

    def heat(self, u):
        self.t += 1.5 * u + 0.1 * (self.out - self.t)
        self.out += float(torch.randn(()))
        return -abs(self.t - 21) / 5


torch.manual_seed(13)
actor, critics = nn.Sequential(mlp(2, 1), nn.Tanh()), nn.ModuleList([mlp(3, 1), mlp(3, 1)])
slow_actor, slow_critics = copy.deepcopy(actor).requires_grad_(False), copy.deepcopy(critics).requires_grad_(False)
opt_a = torch.optim.Adam(actor.parameters(), 1e-3)
opt_c = torch.optim.Adam(critics.parameters(), 2e-3)
house, memory = Greenhouse(), []

for step in range(40):
    s = house.state()
    u = (actor(s).detach() + 0.3 * torch.randn(1)).clamp(-1, 1)
    r = house.heat(u.item())
    memory.append((s, u, torch.tensor([r]), house.state()))
    if len(memory) < 16:
        continue
    pick = torch.randint(len(memory), (16,)).tolist()
    S, U, R, S2 = (torch.stack(c) for c in zip(*(memory[i] for i in pick)))
    U2 = (slow_actor(S2) + 0.1 * torch.randn(16, 1)).clamp(-1, 1)
    y = R + 0.9 * torch.min(*(c(torch.cat([S2, U2], 1)) for c in slow_critics))
    c_loss = sum(F.mse_loss(c(torch.cat([S, U], 1)), y) for c in critics)
    opt_c.zero_grad()
    c_loss.backward()
    opt_c.step()
    if step % 2 == 0:
        a_loss = -critics[0](torch.cat([S, actor(S)], 1)).mean()
        opt_a.zero_grad()
        a_loss.backward()
        opt_a.step()
        with torch.no_grad():
            for slow, fast in ((slow_actor, actor), (slow_critics, critics)):
                for p, q in zip(slow.parameters(), fast.parameters()):
                    p.mul_(0.95).add_(q, alpha=0.05)
print("critics", round(c_loss.item(), 4), "temperature", round(house.t, 2))
