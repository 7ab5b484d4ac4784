# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fake, code, fakes
"""Autoencoder for 6x6 relief maps with an adversary: lazy R1 every fourth step."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--w-adv", type=float, default=0.3)
    p.add_argument("--w-code", type=float, default=1.0)
    p.add_argument("--r1-every", type=int, default=4)
    p.add_argument("--r1", type=float, default=2.0)
    return p.parse_args([])


def relief(n):
    yx = torch.stack(torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij"))
    top = torch.rand(n, 2, 1, 1) * 5
    return torch.exp(-((yx - top) ** 2).sum(1) / 6).flatten(1)


class Encoder(nn.Module):
    def __init__(self, z=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(36, 40), nn.LeakyReLU(0.2), nn.Linear(40, z))

    def forward(self, x):
        return self.body(x)


class Decoder(nn.Module):
    def __init__(self, z=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(z, 40), nn.LeakyReLU(0.2), nn.Linear(40, 36), nn.Sigmoid())

    def forward(self, code):
        return self.body(code)


def requires_grad(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def main():
    a = parse()
    torch.manual_seed(21)
    enc, dec = Encoder(), Decoder()
    crit = nn.Sequential(nn.Linear(36, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    opt_g = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=2e-3, betas=(0.0, 0.99))
    opt_d = torch.optim.Adam(crit.parameters(), lr=2e-3, betas=(0.0, 0.99))
    for i in range(a.steps):
        x = relief(16)

        requires_grad(crit, True)
        with torch.no_grad():
            old = dec(enc(x))
        d_loss = F.softplus(crit(old)).mean() + F.softplus(-crit(x)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        if i % a.r1_every == 0:
            xr = x.clone().requires_grad_()
            (g,) = torch.autograd.grad(crit(xr).sum(), xr, create_graph=True)
            opt_d.zero_grad()
            (a.r1 / 2 * g.pow(2).sum(1).mean() * a.r1_every).backward()
            opt_d.step()

        requires_grad(crit, False)
        code = enc(x)
        fake = dec(code)
        adv = F.softplus(-crit(fake)).mean()
        code_rec = F.mse_loss(enc(fake), code)
        opt_g.zero_grad()
        (a.w_adv * adv).backward()  # expect: place
        (a.w_code * code_rec).backward()  # expect: place
        opt_g.step()
        if i % 4 == 3:
            print(i, f"d {d_loss.item():.3f} adv {adv.item():.3f} code {code_rec.item():.4f}")


if __name__ == "__main__":
    main()
