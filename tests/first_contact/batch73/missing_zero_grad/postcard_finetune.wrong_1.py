"""Sort old postcards by decade: a frozen convolutional trunk, new layers on top, momentum written by hand."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def build(n_decades):
    trunk = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten())
    trunk.requires_grad_(False)
    head = nn.Sequential(nn.Linear(54, 16), nn.ReLU(), nn.Linear(16, n_decades))
    return nn.Sequential(trunk, head)


def postcards(n, gen):
    decade = torch.randint(0, 4, (n,), generator=gen)
    fading = 0.5 + 0.5 * decade.float()
    scene = torch.rand(n, 1, 14, 14, generator=gen)
    return fading.view(-1, 1, 1, 1) * scene + 0.05 * torch.randn(n, 1, 14, 14, generator=gen), decade


class SignedMomentum(torch.optim.Optimizer):
    """Update by the sign of an interpolated momentum, with decoupled weight decay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                m = state.setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(torch.sign(b1 * m + (1 - b1) * p.grad), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def train(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed + 1)
    net = build(4)
    trainable = filter(lambda p: p.requires_grad, net.parameters())
    optimizer = SignedMomentum([p for p in net.parameters() if p.requires_grad], lr=args.lr)
    for step in range(args.steps):
        images, decade = postcards(24, gen)
        loss = F.cross_entropy(net(images), decade, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            optimizer.zero_grad()
            print(f"[{step + 1:3d}/{args.steps}] loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=1905)
    train(parser.parse_args())
