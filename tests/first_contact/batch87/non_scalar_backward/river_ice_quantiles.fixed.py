"""Day of the year when the river ice goes: three quantiles from the winter before."""
import torch
from torch import nn


class Module(nn.Module):
    """What our group's scripts share: hooks that `Fitter` calls, and a place for numbers to log."""

    def __init__(self):
        super().__init__()
        self.logged = {}

    def log(self, name, value):
        self.logged.setdefault(name, []).append(float(value))

    def on_epoch_end(self, epoch):
        line = "  ".join(f"{k} {sum(v) / len(v):.3f}" for k, v in sorted(self.logged.items()))
        print(f"[{epoch}] {line}")
        self.logged.clear()


class Fitter:
    def __init__(self, max_epochs=5, clip=None):
        self.max_epochs = max_epochs
        self.clip = clip

    def fit(self, module, train, val):
        optimizer = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            for batch in train:
                out = module.training_step(batch)
                optimizer.zero_grad()
                out["loss"].backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                optimizer.step()
            module.eval()
            with torch.no_grad():
                for batch in val:
                    module.validation_step(batch)
            module.on_epoch_end(epoch)


class PinballLoss(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels))

    def forward(self, told, y):
        miss = y.unsqueeze(1) - told
        return torch.maximum(self.levels * miss, (self.levels - 1) * miss).mean(0)


class IceOut(Module):
    def __init__(self, n_in, levels=(0.1, 0.5, 0.9), width=24, lr=0.01):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, width), nn.ELU(), nn.Linear(width, len(levels)))
        self.pinball = PinballLoss(levels)
        self.lr = lr

    def forward(self, x):
        first, *gaps = self.net(x).split(1, dim=1)
        steps = [first] + [nn.functional.softplus(g) for g in gaps]
        return torch.cat(steps, 1).cumsum(1)

    def training_step(self, batch):
        x, day = batch
        per_level = self.pinball(self(x), day)
        for level, value in zip(self.pinball.levels.tolist(), per_level.tolist()):
            self.log(f"q{level:.1f}", value)
        return {"loss": per_level.mean()}

    def validation_step(self, batch):
        x, day = batch
        told = self(x)
        inside = (day >= told[:, 0]) & (day <= told[:, -1])
        self.log("inside", inside.float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr, amsgrad=True)


def winters(n, batch):
    frost = torch.rand(n, 4)
    mean = 1.5 * frost[:, 0] + frost[:, 1] * frost[:, 2]
    day = mean + (0.1 + 0.4 * frost[:, 3]) * torch.randn(n)
    return list(zip(frost.split(batch), day.split(batch)))


if __name__ == "__main__":
    torch.manual_seed(1917)
    Fitter(clip=1.0).fit(IceOut(4), winters(128, 32), winters(64, 32))
