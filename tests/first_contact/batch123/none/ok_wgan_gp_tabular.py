# WGAN-GP for a small table of (income, age, debt): one fake batch an iteration serves both networks
import torch
from torch import nn, autograd

torch.manual_seed(21)
LAMBDA_GP = 10.0
N_CRITIC = 2


def real_batch(n, g):
    age = 20 + 50 * torch.rand(n, 1, generator=g)
    income = 0.05 * age + 0.5 * torch.randn(n, 1, generator=g)
    debt = 3 - 0.03 * age + 0.3 * torch.randn(n, 1, generator=g)
    return torch.cat([income, age / 35, debt], dim=1)


class Net(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(i, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, o))

    def forward(self, x):
        return self.layers(x)


def gradient_penalty(critic, real, fake, g):
    mix = torch.rand(real.size(0), 1, generator=g)
    x = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(x)
    grad = autograd.grad(score, x, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


G, C = Net(4, 3), Net(3, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=1e-3, betas=(0.0, 0.9))
gen = torch.Generator().manual_seed(3)
distance = 0.0

for it in range(40):
    real = real_batch(48, gen)
    fake = G(torch.randn(48, 4, generator=gen))

    c_loss = C(fake.detach()).mean() - C(real).mean()
    loss_c = c_loss + LAMBDA_GP * gradient_penalty(C, real, fake.detach(), gen)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    distance += -c_loss.item()

    if (it + 1) % N_CRITIC == 0:
        g_loss = -C(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    if (it + 1) % 10 == 0:
        print("it %d  wasserstein %.3f  generator %.3f" % (it + 1, distance / 10, g_loss.item()))
        distance = 0.0
