# Two generators, two discriminators, three optimizers: every fake is detached where it should be.
import itertools
import torch
from torch import nn

torch.manual_seed(0)


def gen():
    return nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 2))


def disc():
    return nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))


G_ab, G_ba, D_a, D_b = gen(), gen(), disc(), disc()
opt_g = torch.optim.Adam(itertools.chain(G_ab.parameters(), G_ba.parameters()), lr=2e-4)
opt_a = torch.optim.Adam(D_a.parameters(), lr=2e-4)
opt_b = torch.optim.Adam(D_b.parameters(), lr=2e-4)
l1, mse = nn.L1Loss(), nn.MSELoss()

for it in range(3):
    a, b = torch.randn(8, 2), torch.randn(8, 2) + 2
    fake_b, fake_a = G_ab(a), G_ba(b)
    adversarial = mse(D_b(fake_b), torch.ones(8, 1)) + mse(D_a(fake_a), torch.ones(8, 1))
    cycle = l1(G_ba(fake_b), a) + l1(G_ab(fake_a), b)
    opt_g.zero_grad()
    (adversarial + 10 * cycle).backward()
    opt_g.step()
    for D, opt, real, fake in ((D_a, opt_a, a, fake_a), (D_b, opt_b, b, fake_b)):
        loss_d = mse(D(real), torch.ones(8, 1)) + mse(D(fake.detach()), torch.zeros(8, 1))
        opt.zero_grad()
        (0.5 * loss_d).backward()
        opt.step()
