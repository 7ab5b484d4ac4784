# expect: pattern = none
# expect: raises = nothing
# InfoGAN on the reeded edges of coins: D and Q share a trunk, codes = (mint, wear)
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--noise", type=int, default=4)
parser.add_argument("--lambda_info", type=float, default=1.0)
opt = parser.parse_args([])

MINTS, LEN = 3, 20


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(opt.noise + MINTS + 1, 48), nn.ReLU(inplace=True),
                                  nn.Linear(48, 48), nn.ReLU(inplace=True), nn.Linear(48, LEN), nn.Tanh())

    def forward(self, z, mint, wear):
        return self.main(torch.cat([z, F.one_hot(mint, MINTS).float(), wear], dim=1))


class TrunkDQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(LEN, 48), nn.LeakyReLU(0.2, inplace=True),
                                   nn.Linear(48, 32), nn.LeakyReLU(0.2, inplace=True))
        self.real = nn.Linear(32, 1)
        self.q_mint = nn.Linear(32, MINTS)
        self.q_wear = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.real(h).squeeze(1), self.q_mint(h), self.q_wear(h)


def coins(n):
    mint = torch.randint(MINTS, (n,))
    wear = torch.rand(n, 1)
    t = torch.linspace(0, 6.28, LEN)
    x = torch.tanh(3 * torch.sin((mint[:, None] + 1) * t)) * (1 - 0.6 * wear)
    return x + 0.05 * torch.randn(n, LEN)


def codes(n):
    return torch.randn(n, opt.noise), torch.randint(MINTS, (n,)), torch.rand(n, 1)


torch.manual_seed(19)
G, DQ = Generator(), TrunkDQ()
d_params = [p for k, p in DQ.named_parameters() if not k.startswith("q_")]
q_params = [p for k, p in DQ.named_parameters() if k.startswith("q_")]
opt_d = torch.optim.Adam(d_params, lr=1e-3, betas=(0.5, 0.99))
opt_g = torch.optim.Adam(list(G.parameters()) + q_params, lr=2e-3, betas=(0.5, 0.99))
data = coins(256)

for epoch in range(opt.epochs):
    for real in data[torch.randperm(256)].split(32):
        n = len(real)
        fake = G(*(c := codes(n)))

        # discriminator
        opt_d.zero_grad()
        d_loss = F.softplus(-DQ(real)[0]).mean() + F.softplus(DQ(fake.detach())[0]).mean()
        d_loss.backward()
        opt_d.step()

        # generator: adversarial part first (its gradient norm is logged), then the information
        opt_g.zero_grad()
        logit, mint_hat, wear_hat = DQ(fake)
        g_loss = F.softplus(-logit).mean()
        g_loss.backward(retain_graph=True)
        g_norm = torch.stack([p.grad.norm() for p in G.parameters()]).norm()
        info = F.cross_entropy(mint_hat, c[1]) + F.mse_loss(wear_hat, c[2])
        (opt.lambda_info * info).backward()
        opt_g.step()
    if epoch % 4 == 0:
        print("epoch %d  D %.3f  G %.3f (|g| %.3f)  info %.3f"
              % (epoch, d_loss.item(), g_loss.item(), g_norm.item(), info.item()))
