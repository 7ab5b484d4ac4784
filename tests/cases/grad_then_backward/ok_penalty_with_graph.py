# expect: pattern = none
# A critic with a gradient penalty that is made to be walked, in a trainer with its own loop.
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 24), nn.Softplus(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)

    def penalty(self, real, fake):
        t = torch.rand(len(real), 1)
        x = (t * real + (1 - t) * fake).requires_grad_(True)
        score = self(x)
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
        return (slope.norm(dim=1) - 1).pow(2).mean()


torch.manual_seed(0)
critic, generator = Critic(4), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
for it in range(4):
    for _ in range(2):
        real = torch.randn(16, 4) + 2
        with torch.no_grad():
            fake = generator(torch.randn(16, 2))
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * critic.penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(generator(torch.randn(16, 2))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(it, loss_c.item(), loss_g.item())
