# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = dec_loss
"""VAE/GAN hybrid on 2-d blobs: encoder, decoder and discriminator have an optimizer each."""
import argparse

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce


class Encoder(nn.Module):
    def __init__(self, x_dim, z_dim):
        super(Encoder, self).__init__()
        self.body = nn.Sequential(nn.Linear(x_dim, 32), nn.LeakyReLU(0.2))
        self.mu = nn.Linear(32, z_dim)
        self.logvar = nn.Linear(32, z_dim)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h), self.logvar(h).clamp(-4, 4)


def make_decoder(z_dim, x_dim):
    return nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, x_dim))


def make_disc(x_dim):
    return nn.Sequential(nn.Linear(x_dim, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))


def blobs(n):
    centres = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0]])
    return centres[torch.randint(0, 3, (n,))] + 0.1 * torch.randn(n, 2)


def main(args):
    torch.manual_seed(args.seed)
    enc, dec, dis = Encoder(2, args.z_dim), make_decoder(args.z_dim, 2), make_disc(2)
    opt_enc = torch.optim.Adam(enc.parameters(), lr=args.lr)
    opt_dec = torch.optim.Adam(dec.parameters(), lr=args.lr)
    opt_dis = torch.optim.Adam(dis.parameters(), lr=args.lr)

    for it in range(args.iters):
        x = blobs(args.batch)
        real, fake = torch.ones(args.batch, 1), torch.zeros(args.batch, 1)

        mu, logvar = enc(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        x_rec = dec(z)
        x_gen = dec(torch.randn_like(z))

        dis_loss = bce(dis(x), real) + bce(dis(x_rec.detach()), fake) + bce(dis(x_gen.detach()), fake)
        rec = (x_rec - x).pow(2).mean()
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).mean()
        adv = bce(dis(x_rec), real) + bce(dis(x_gen), real)  # expect: place
        dec_loss = args.gamma * rec + adv  # expect: place
        enc_loss = kl + rec

        opt_dis.zero_grad()
        dis_loss.backward()
        opt_dis.step()  # expect: place

        opt_dec.zero_grad()
        dec_loss.backward(retain_graph=True)  # expect: place
        opt_dec.step()

        opt_enc.zero_grad()
        enc_loss.backward()
        opt_enc.step()

        if it % 4 == 0:
            print(f"[{it:3d}] rec {rec.item():.3f} kl {kl.item():.3f} adv {adv.item():.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--iters", type=int, default=10)
    p.add_argument("--z-dim", type=int, default=3)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--gamma", type=float, default=5.0)
    p.add_argument("--seed", type=int, default=3)
    main(p.parse_args())
