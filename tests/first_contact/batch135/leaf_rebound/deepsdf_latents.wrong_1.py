"""Auto-decoder of 2-D signed distance fields: one latent code per shape, trained
together with the decoder.  Codes are kept inside a ball, as in the usual recipe.
The decoder learns an average shape, the codes barely leave their start."""
import argparse
import math

import torch
import torch.nn as nn


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--shapes", type=int, default=6)
    p.add_argument("--latent-size", type=int, default=8)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--code-bound", type=float, default=0.25)
    p.add_argument("--code-std", type=float, default=0.2)
    p.add_argument("--code-reg", type=float, default=1e-3)
    p.add_argument("--clamp-dist", type=float, default=0.5)
    p.add_argument("--points", type=int, default=64)
    p.add_argument("--shapes-per-batch", type=int, default=3)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr-decoder", type=float, default=2e-3)
    p.add_argument("--lr-codes", type=float, default=2e-2)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args([])


class ShapeSet:
    """Ellipses and boxes with random sizes."""

    def __init__(self, opt):
        self.gen = torch.Generator().manual_seed(opt.seed)
        self.size = 0.25 + 0.5 * torch.rand(opt.shapes, 2, generator=self.gen)
        self.is_box = torch.arange(opt.shapes) % 2 == 0
        self.opt = opt

    def sdf(self, shape_ids, xy):
        size = self.size[shape_ids].unsqueeze(1)
        q = xy.abs() - size
        box = q.clamp(min=0).norm(dim=-1) + q.amax(-1).clamp(max=0)
        k = (xy / size).norm(dim=-1)
        ellipse = (k - 1) * size.amin(-1)
        return torch.where(self.is_box[shape_ids].unsqueeze(1), box, ellipse)

    def __iter__(self):
        order = torch.randperm(self.opt.shapes, generator=self.gen)
        for ids in order.split(self.opt.shapes_per_batch):
            xy = 2 * torch.rand(len(ids), self.opt.points, 2, generator=self.gen) - 1
            yield ids, xy, self.sdf(ids, xy)


class LatentTable:
    """Plain tensor of codes; an embedding would do but we want to project it."""

    def __init__(self, n, dim, std, bound):
        self.bound = bound
        self.codes = (torch.randn(n, dim) * std / math.sqrt(dim)).requires_grad_(True)

    def parameters(self):
        return [self.codes]

    def __getitem__(self, ids):
        return self.codes[ids]

    def project(self):
        norm = self.codes.norm(dim=1, keepdim=True).clamp(min=self.bound)
        self.codes = (self.codes * self.bound / norm)

    def mean_norm(self):
        return self.codes.detach().norm(dim=1).mean().item()


class Decoder(nn.Module):
    def __init__(self, latent, hidden):
        super().__init__()
        self.fc1 = nn.Linear(latent + 2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden + latent + 2, hidden)
        self.out = nn.Linear(hidden, 1)
        self.act = nn.Softplus(beta=20)

    def forward(self, code, xy):
        inp = torch.cat([code.unsqueeze(1).expand(-1, xy.size(1), -1), xy], dim=-1)
        h = self.act(self.fc2(self.act(self.fc1(inp))))
        h = self.act(self.fc3(torch.cat([h, inp], dim=-1)))
        return torch.tanh(self.out(h)).squeeze(-1)


class StepDecay:
    def __init__(self, optimizer, interval, factor):
        self.optimizer, self.interval, self.factor = optimizer, interval, factor

    def step(self, epoch):
        if epoch and epoch % self.interval == 0:
            for group in self.optimizer.param_groups:
                group["lr"] *= self.factor


class ClampedL1(nn.Module):
    def __init__(self, dist, reg):
        super().__init__()
        self.dist, self.reg = dist, reg

    def forward(self, pred, target, code, epoch):
        data = (pred.clamp(-self.dist, self.dist) - target.clamp(-self.dist, self.dist)).abs().mean()
        prior = code.pow(2).sum(1).mean()
        return data + self.reg * min(1.0, epoch / 4) * prior, data.item()


def train(opt):
    torch.manual_seed(opt.seed)
    shapes = ShapeSet(opt)
    decoder = Decoder(opt.latent_size, opt.hidden)
    latents = LatentTable(opt.shapes, opt.latent_size, opt.code_std, opt.code_bound)
    criterion = ClampedL1(opt.clamp_dist, opt.code_reg)
    optimizer = torch.optim.Adam([
        {"params": decoder.parameters(), "lr": opt.lr_decoder},
        {"params": latents.parameters(), "lr": opt.lr_codes},
    ])
    schedule = StepDecay(optimizer, 5, 0.5)
    history = []
    for epoch in range(opt.epochs):
        schedule.step(epoch)
        running = 0.0
        for ids, xy, target in shapes:
            code = latents[ids]
            loss, data = criterion(decoder(code, xy), target, code, epoch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            latents.project()
            running += data
        history.append((running, latents.mean_norm()))
        print(f"epoch {epoch} sdf {running:.4f} |z| {latents.mean_norm():.4f}")
    return history


if __name__ == "__main__":
    train(options())
