from collections import defaultdict

import torch
import torch.nn as nn


class History:
    def __init__(self):
        self.logs = defaultdict(list)

    def add(self, **losses):
        for name, value in losses.items():
            self.logs[name].append(value.item())

    def last(self, name, n=10):
        values = self.logs[name][-n:]
        return float(sum(values) / len(values))


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2),
                         nn.Linear(32, n_out))


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    grad, = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def showers(n):
    """Twelve hourly readings of a gauge during a shower."""
    t = torch.arange(12.0)
    peak = 2 + 8 * torch.rand(n, 1)
    return torch.relu(torch.rand(n, 1) * 2 * torch.exp(-((t - peak) / 2) ** 2) + 0.02 * torch.randn(n, 12))


def main(steps=60, n_critic=2, lambda_gp=10.0, batch=32):
    torch.manual_seed(3)
    gen, critic = mlp(6, 12), mlp(12, 1)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    history = History()
    for step in range(steps):
        for _ in range(n_critic):
            real = showers(batch)
            fake = gen(torch.randn(batch, 6)).detach()
            gp = gradient_penalty(critic, real, fake).detach()
            d_loss = critic(fake).mean() - critic(real).mean() + lambda_gp * gp
            opt_c.zero_grad()
            d_loss.backward()
            opt_c.step()
            history.add(d_loss=d_loss, gp=gp)

        g_loss = -critic(gen(torch.randn(batch, 6))).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        history.add(g_loss=g_loss)
        if step % 20 == 19:
            print(step, *(f"{k} {history.last(k):.3f}" for k in ("d_loss", "gp", "g_loss")))
    return history


if __name__ == "__main__":
    main()
