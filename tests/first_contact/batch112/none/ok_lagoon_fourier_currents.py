"""Currents in a lagoon from drifters: random Fourier features, a stream and a divergence head.

Plain old loop, weights moved by hand. The balance of the two terms is set from their pull on `mix`.
"""
import math

import torch
import torch.nn.functional as F


def drifters(n, seed):
    g = torch.Generator().manual_seed(seed)
    xy = torch.rand(n, 2, generator=g)
    speed = torch.sin(math.pi * xy[:, 0]) * torch.cos(math.pi * xy[:, 1])
    salt = 0.5 * xy[:, 0] + torch.sin(2 * math.pi * xy[:, 1])
    noise = 0.05 * torch.randn(2, n, generator=g)
    return xy, speed + noise[0], salt + noise[1]


class Frequencies(torch.nn.Module):
    """Fixed by construction; a Parameter only so that it travels in the state dict."""

    def __init__(self, half, scale):
        super().__init__()
        self.omega = torch.nn.Parameter(scale * torch.randn(2, half), requires_grad=False)

    def forward(self, xy):
        turned = xy @ self.omega
        return torch.cat([turned.cos(), turned.sin()], dim=1)


def make_weights(width, hidden):
    mix = (torch.randn(width, hidden) / width ** 0.5).requires_grad_()
    speed = (torch.randn(hidden) / hidden ** 0.5).requires_grad_()
    salt = (torch.randn(hidden) / hidden ** 0.5).requires_grad_()
    return {"mix": mix, "speed": speed, "salt": salt}


def predict(w, features):
    h = torch.tanh(features @ w["mix"])
    return h @ w["speed"], h @ w["salt"]


def clear(w):
    for p in w.values():
        p.grad = None


def pull(loss, w):
    """How hard a loss tugs at the shared layer; its graph is needed again for the real step."""
    clear(w)
    loss.backward(retain_graph=True)
    return w["mix"].grad.norm().item()


def main():
    torch.manual_seed(14)
    xy, speed, salt = drifters(400, 1)
    bank = Frequencies(24, 4.0)
    features = bank(xy)
    held_xy, held_speed, held_salt = drifters(150, 2)
    w = make_weights(features.shape[1], 20)
    velocity = {k: torch.zeros_like(p) for k, p in w.items()}
    share, lr = 0.5, 0.05
    for it in range(60):
        said_speed, said_salt = predict(w, features)
        a, b = F.mse_loss(said_speed, speed), F.mse_loss(said_salt, salt)
        if it % 5 == 0:
            tug_a, tug_b = pull(a, w), pull(b, w)
            share = 0.7 * share + 0.3 * tug_b / (tug_a + tug_b)
        clear(w)
        loss = 2 * (share * a + (1 - share) * b)
        loss.backward()
        for k, p in w.items():
            velocity[k].mul_(0.9).add_(p.grad)
            p.data.sub_(velocity[k], alpha=lr)
        if it % 15 == 0 or it == 59:
            with torch.no_grad():
                u, s = predict(w, bank(held_xy))
            print(f"{it:3d} speed {a.item():.4f} salt {b.item():.4f} share {share:.2f} "
                  f"held {F.mse_loss(u, held_speed):.4f} {F.mse_loss(s, held_salt):.4f}")


if __name__ == "__main__":
    main()
