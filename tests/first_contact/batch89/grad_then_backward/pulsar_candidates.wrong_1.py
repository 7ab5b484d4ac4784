"""Pulsar or interference? A small classifier of folded profiles, kept flat around its inputs."""
import torch
from torch import nn
from torch.nn import functional as F


def folded_profiles(n, bins=32):
    """Pulsars have a narrow peak anywhere in phase; interference has slow waves and spikes."""
    phase = torch.linspace(0, 1, bins)
    y = torch.randint(0, 2, (n,))
    centre = torch.rand(n, 1)
    away = (phase - centre).abs()
    peak = torch.exp(-(torch.minimum(away, 1 - away) / 0.04) ** 2)
    wave = 0.6 * torch.sin(6.283 * (phase + centre) * torch.randint(1, 4, (n, 1)))
    x = torch.where(y[:, None] == 1, 1.5 * peak, wave) + 0.35 * torch.randn(n, bins)
    return x[:, None], y


class Profiler(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, width, 5, padding=2, padding_mode="circular"), nn.Softplus(),
            nn.Conv1d(width, width, 5, padding=2, padding_mode="circular"), nn.Softplus(),
        )
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        return self.out(self.conv(x).amax(-1))


class Trainer:
    """Cross entropy at first; after `quiet` epochs the Jacobian's norm is pressed down as well."""

    def __init__(self, net, quiet=2, strength=0.3, lr=5e-3):
        self.net, self.quiet, self.strength = net, quiet, strength
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.epoch = 0
        self.log = []

    def jacobian_norm(self, x, logits):
        """One random direction of the outputs a sample: right on average."""
        direction = F.normalize(torch.randn_like(logits), dim=-1)
        pull = (logits * direction).sum()
        slope, = torch.autograd.grad(pull, x, retain_graph=True)
        return slope.flatten(1).square().sum(1).mean()

    def loss(self, x, y):
        x = x.clone().requires_grad_(self.epoch >= self.quiet)
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        penalty = torch.zeros(())
        if self.epoch >= self.quiet:
            penalty = self.jacobian_norm(x, logits)
            loss = loss + self.strength * penalty
        return loss, penalty

    def fit(self, x, y, epochs, batch=32):
        for self.epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(batch):
                loss, penalty = self.loss(x[rows], y[rows])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.log.append((loss.item(), penalty.item()))

    @torch.no_grad()
    def accuracy(self, x, y, blur=0.0):
        return (self.net(x + blur * torch.randn_like(x)).argmax(-1) == y).float().mean().item()


def main():
    torch.manual_seed(33)
    x, y = folded_profiles(256)
    trainer = Trainer(Profiler())
    trainer.fit(x[:192], y[:192], epochs=5)
    for number, (loss, penalty) in enumerate(trainer.log):
        print(f"epoch {number}: loss {loss:.4f} jacobian {penalty:.4f}")
    for blur in (0.0, 0.3, 0.6):
        print(f"blur {blur}: {trainer.accuracy(x[192:], y[192:], blur):.3f}")


if __name__ == "__main__":
    main()
