# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pred, sens, energy
"""Next-frame prediction with a smoothness constraint on how the prediction reacts
to its input: the gradient of the predicted frame energy wrt the last input frame
must not exceed a bound (keeps flicker down)."""
import argparse

import torch
import torch.nn as nn


def moving_blobs(batch, frames, size, gen):
    """Clips [B, T, H, W] of a soft blob that moves with constant speed."""
    pos = torch.rand(batch, 1, 2, generator=gen) * size * 0.5 + size * 0.2
    vel = torch.randn(batch, 1, 2, generator=gen) * 0.6
    t = torch.arange(frames, dtype=torch.float32)[None, :, None]
    centre = pos + vel * t
    axis = torch.arange(size, dtype=torch.float32)
    dy = (axis[None, None, :] - centre[..., :1]).pow(2)
    dx = (axis[None, None, :] - centre[..., 1:]).pow(2)
    return torch.exp(-(dy[..., :, None] + dx[..., None, :]) / 4.0)


class Predictor(nn.Module):
    def __init__(self, past, width=10):
        super().__init__()
        self.enc = nn.Conv2d(past, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.dec = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, clip):
        z = torch.tanh(self.enc(clip))
        z = z + torch.tanh(self.mid(z))
        return clip[:, -1] + self.dec(z).squeeze(1)


class SensitivityPenalty(nn.Module):
    """max(0, ||d energy / d clip|| - bound)^2"""

    def __init__(self, bound):
        super().__init__()
        self.bound = bound

    def forward(self, pred, clip):
        energy = pred.pow(2).mean(dim=(1, 2)).sum()
        sens, = torch.autograd.grad(energy, clip)  # expect: place
        norm = sens.flatten(1).norm(dim=1)
        return torch.relu(norm - self.bound).pow(2).mean(), norm.mean()


def train(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    model = Predictor(args.past)
    penalty = SensitivityPenalty(args.bound)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=20, gamma=0.5)
    for step in range(args.steps):
        video = moving_blobs(args.batch, args.past + 1, args.size, gen)
        clip = video[:, :-1].clone().requires_grad_(True)
        pred = model(clip)
        recon = (pred - video[:, -1]).pow(2).mean()
        pen, sens = penalty(pred, clip)  # expect: place
        loss = recon + args.gamma * pen
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        sched.step()
        if step % args.log_every == 0:
            print(f"[{step:03d}] recon {recon.item():.5f} sens {sens.item():.4f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--batch", type=int, default=6)
    ap.add_argument("--past", type=int, default=3)
    ap.add_argument("--size", type=int, default=14)
    ap.add_argument("--bound", type=float, default=0.005)
    ap.add_argument("--gamma", type=float, default=50.0)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=9)
    ap.add_argument("--log-every", type=int, default=10)
    train(ap.parse_args([]))
