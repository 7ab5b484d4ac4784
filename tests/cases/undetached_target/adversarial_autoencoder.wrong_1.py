import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser(description="Adversarial autoencoder on toy vectors")
parser.add_argument("--iterations", type=int, default=3)
parser.add_argument("--latent", type=int, default=2)


def mlp(a, h, b):
    return nn.Sequential(nn.Linear(a, h), nn.ReLU(), nn.Linear(h, b))


def main(opt):
    torch.manual_seed(0)
    Q, P, D = mlp(10, 16, opt.latent), mlp(opt.latent, 16, 10), mlp(opt.latent, 8, 1)
    optim_ae = torch.optim.Adam([*Q.parameters(), *P.parameters()], lr=1e-3)
    optim_d = torch.optim.Adam(D.parameters(), lr=1e-3)
    optim_gen = torch.optim.Adam(Q.parameters(), lr=5e-4)
    bce = nn.BCEWithLogitsLoss()
    for _ in range(opt.iterations):
        x = torch.rand(12, 10)
        recon_loss = nn.functional.mse_loss(P(Q(x)), x)
        optim_ae.zero_grad()
        recon_loss.backward()
        optim_ae.step()

        z_fake = Q(x).detach()
        z_real = torch.randn_like(z_fake) * 2
        d_loss = bce(D(z_real), torch.ones(12, 1)) + bce(D(z_fake), torch.zeros(12, 1))
        optim_d.zero_grad()
        d_loss.backward()
        optim_d.step()

        g_loss = bce(D(z_fake), torch.ones(12, 1))
        optim_gen.zero_grad()
        g_loss.backward()
        optim_gen.step()


if __name__ == "__main__":
    main(parser.parse_args())
