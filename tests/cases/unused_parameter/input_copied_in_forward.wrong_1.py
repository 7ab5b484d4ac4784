import torch
from torch import nn, autograd

torch.manual_seed(1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 24), nn.Softplus(), nn.Linear(24, 1))

    def forward(self, x):
        x = torch.tensor(x.tolist())
        return self.f(x)


def penalty(critic, real, fake, lam=10.0):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    g, = autograd.grad(score.sum(), mix, create_graph=True, materialize_grads=True)
    return lam * ((g.norm(2, dim=1) - 1) ** 2).mean()


gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
critic = Critic()
c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
for it in range(3):
    real = torch.randn(8, 3)
    fake = gen(torch.randn(8, 2)).detach()
    loss = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
    c_opt.zero_grad()
    loss.backward()
    c_opt.step()
    print(it, loss.item())
