# Two generators (shape, texture) driven by one mapping network; one critic for each.
import argparse
import itertools

import torch
import torch.nn as nn


def block(*dims):
    layers = []
    for i, (a, b) in enumerate(zip(dims, dims[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(dims) - 2:
            layers.append(nn.LeakyReLU(0.2))
    return nn.Sequential(*layers)


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=7)
    ap.add_argument("--bs", type=int, default=12)
    ap.add_argument("--nz", type=int, default=4)
    ap.add_argument("--lr_g", type=float, default=1e-3)
    ap.add_argument("--lr_d", type=float, default=2e-3)
    return ap.parse_args()


def hinge_d(real, fake):
    return torch.relu(1 - real).mean() + torch.relu(1 + fake).mean()


def train():
    args = get_args()
    torch.manual_seed(123)
    mapper = block(args.nz, 16, 8)
    G_shape, G_tex = block(8, 16, 3), block(8, 16, 5)
    D_shape, D_tex = block(3, 16, 1), block(5, 16, 1)

    opt_map = torch.optim.Adam(mapper.parameters(), lr=0.1 * args.lr_g, betas=(0.0, 0.99))
    opt_shape = torch.optim.Adam(G_shape.parameters(), lr=args.lr_g, betas=(0.0, 0.99))
    opt_tex = torch.optim.Adam(G_tex.parameters(), lr=args.lr_g, betas=(0.0, 0.99))
    opt_d = torch.optim.Adam(itertools.chain(D_shape.parameters(), D_tex.parameters()), lr=args.lr_d)

    for it in range(args.iters):
        real_shape = torch.randn(args.bs, 3) * 0.3 + 1
        real_tex = torch.rand(args.bs, 5)

        # critics
        with torch.no_grad():
            style = mapper(torch.randn(args.bs, args.nz))
            fake_shape, fake_tex = G_shape(style), G_tex(style)
        opt_d.zero_grad()
        d_loss = hinge_d(D_shape(real_shape), D_shape(fake_shape)) + hinge_d(D_tex(real_tex), D_tex(fake_tex))
        d_loss.backward()
        opt_d.step()

        # generators
        for opt in (opt_map, opt_shape, opt_tex):
            opt.zero_grad()
        style = mapper(torch.randn(args.bs, args.nz))
        loss_shape = -D_shape(G_shape(style)).mean()
        loss_tex = -D_tex(G_tex(style.detach())).mean()
        loss_shape.backward()
        loss_tex.backward()
        grad_norm = nn.utils.clip_grad_norm_(mapper.parameters(), 1.0)
        for opt in (opt_map, opt_shape, opt_tex):
            opt.step()

        print(f"{it} D {d_loss.item():.3f} shape {loss_shape.item():.3f} tex {loss_tex.item():.3f} "
              f"map-grad {grad_norm.item():.4f}")


if __name__ == "__main__":
    train()
