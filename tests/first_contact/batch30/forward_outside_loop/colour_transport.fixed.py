import torch
import torch.nn as nn

# Neural optimal transport between two palettes (autumn photo -> spring photo), pixels as points in RGB
torch.manual_seed(21)

BATCH = 64
F_ITERS = 2
T_ITERS = 4
STEPS = 6


def palette(centres, spread):
    centres = torch.tensor(centres)
    def draw(n):
        which = torch.randint(len(centres), (n,))
        return centres[which] + spread * torch.randn(n, 3)
    return draw


autumn = palette([[0.8, 0.4, 0.1], [0.6, 0.2, 0.1], [0.9, 0.7, 0.2]], 0.05)
spring = palette([[0.3, 0.7, 0.2], [0.9, 0.8, 0.9]], 0.05)


class Map(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 3))

    def forward(self, x):
        return x + self.body(x)


class Potential(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, y):
        return self.body(y).squeeze(1)


def cost(x, y):
    return 0.5 * (x - y).pow(2).sum(1)


T, f = Map(), Potential()
T_opt = torch.optim.Adam(T.parameters(), lr=1e-3, betas=(0.5, 0.9))
f_opt = torch.optim.Adam(f.parameters(), lr=1e-3, betas=(0.5, 0.9))

for step in range(STEPS):
    # potential
    for _ in range(F_ITERS):
        x, y = autumn(BATCH), spring(BATCH)
        moved = T(x)
        f_loss = f(moved.detach()).mean() - f(y).mean()
        f_opt.zero_grad()
        f_loss.backward()
        f_opt.step()

    # map
    for p in f.parameters():
        p.requires_grad_(False)
    for _ in range(T_ITERS):
        moved = T(x)
        T_loss = (cost(x, moved) - f(moved)).mean()
        T_opt.zero_grad()
        T_loss.backward()
        T_opt.step()
    for p in f.parameters():
        p.requires_grad_(True)

    print(f"{step:3d}  f {f_loss.item():+.4f}  T {T_loss.item():+.4f}")
