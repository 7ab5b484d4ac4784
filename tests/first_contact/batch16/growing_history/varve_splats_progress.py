# expect: pattern = growing-history
# expect: also = stored-graph
# expect: carrier = ema_loss, ema
"""Fit the grey profile of a lake core with splats: many small bells whose place, width and height are learnt."""
import torch
from torch import nn


def core_profile(points=160):
    depth = torch.linspace(0, 1, points)
    years = 0.5 + 0.3 * torch.sin(40 * depth + 4 * depth**2)
    flood = 0.8 * torch.exp(-((depth - 0.62) ** 2) / 2e-4)
    return depth, years + flood + 0.02 * torch.randn(points)


class Splats(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.place = nn.Parameter(torch.rand(count))
        self.log_width = nn.Parameter(torch.full((count,), -3.5))
        self.height = nn.Parameter(0.3 * torch.randn(count))
        self.floor = nn.Parameter(torch.tensor(0.4))

    def render(self, depth):
        away = (depth[:, None] - self.place) / self.log_width.exp()
        return self.floor + (self.height * torch.exp(-0.5 * away**2)).sum(1)


class Progress:
    """A line now and then, as a bar would show it."""

    def __init__(self, total, every=10):
        self.total, self.every = total, every
        self.postfix = {}

    def set_postfix(self, values):
        self.postfix = dict(values)

    def update(self, iteration):
        if iteration % self.every == 0:
            shown = ", ".join(f"{name}={value}" for name, value in self.postfix.items())
            print(f"{iteration:4d}/{self.total}  {shown}")


def roughness(splats):
    return torch.relu(splats.log_width + 2.0).pow(2).mean() + 1e-3 * splats.height.abs().mean()


def make_optimizer(splats, lr):
    groups = [
        {"params": [splats.place], "lr": 0.1 * lr, "name": "place"},
        {"params": [splats.log_width], "lr": lr, "name": "width"},
        {"params": [splats.height, splats.floor], "lr": lr, "name": "height"},
    ]
    return torch.optim.Adam(groups, eps=1e-15)


def training(iterations=60, count=40, batch=64, lr=0.02):
    depth, grey = core_profile()
    splats = Splats(count)
    optimizer = make_optimizer(splats, lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    ema_loss, ema_rough = 0.0, 0.0
    progress = Progress(iterations)
    for iteration in range(1, iterations + 1):
        picked = torch.randint(0, len(depth), (batch,))
        image = splats.render(depth[picked])
        l1 = (image - grey[picked]).abs().mean()
        l2 = (image - grey[picked]).pow(2).mean()
        rough = roughness(splats)
        loss = 0.8 * l1 + 0.2 * l2 + 0.05 * rough
        loss.backward()

        with torch.no_grad():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            splats.place.clamp_(0.0, 1.0)
            ema_rough = 0.4 * rough + 0.6 * ema_rough
        ema_loss = 0.4 * loss + 0.6 * ema_loss  # expect: place
        progress.set_postfix({"loss": f"{ema_loss:.5f}", "rough": f"{ema_rough:.5f}"})  # expect: place
        progress.update(iteration)

        if iteration == iterations // 2:
            print("narrow splats:", int((splats.log_width < -4).sum()))
    return splats


if __name__ == "__main__":
    torch.manual_seed(19)
    fitted = training()
    with torch.no_grad():
        depth, grey = core_profile()
        print("mean error", round((fitted.render(depth) - grey).abs().mean().item(), 4))
