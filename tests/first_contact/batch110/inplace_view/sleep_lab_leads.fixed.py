"""Sleep stages from four EEG leads: a small convolutional scorer with re-referenced feature maps."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    leads: int = 4
    samples: int = 64
    width: int = 6
    stages: int = 3
    lr: float = 3e-3
    epochs: int = 4


def rereference(h):
    """Takes the slow drift out of each lead's maps (batch, lead, map, time)."""
    return h - h.mean(-1, keepdim=True)


class Scorer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.conv = nn.Conv1d(1, cfg.width, 9, padding=4)
        self.mix = nn.Conv1d(cfg.leads * cfg.width, 12, 5, stride=2)
        self.head = nn.Linear(12, cfg.stages)

    def forward(self, eeg):
        b, leads, time = eeg.shape
        h = self.conv(eeg.reshape(b * leads, 1, time)).view(b, leads, -1, time)
        h = torch.relu(rereference(h))
        h = torch.relu(self.mix(h.flatten(1, 2)))
        return self.head(h.mean(-1))


def night(cfg, epochs, seed):
    g = torch.Generator().manual_seed(seed)
    stage = torch.randint(cfg.stages, (epochs,), generator=g)
    t = torch.linspace(0, 1, cfg.samples)
    freq = torch.tensor([3.0, 8.0, 14.0])[stage][:, None, None]
    phase = 6.28 * torch.rand(epochs, cfg.leads, 1, generator=g)
    drift = torch.randn(epochs, cfg.leads, 1, generator=g) * (1 + t)
    eeg = torch.sin(6.28 * freq * t + phase) + drift
    return eeg + 0.5 * torch.randn(epochs, cfg.leads, cfg.samples, generator=g), stage


def kappa(model, eeg, stage, stages):
    model.eval()
    with torch.no_grad():
        said = model(eeg).argmax(1)
    model.train()
    table = torch.zeros(stages, stages)
    for a, b in zip(said, stage):
        table[a, b] += 1
    table /= table.sum()
    chance = (table.sum(0) * table.sum(1)).sum()
    return ((table.trace() - chance) / (1 - chance)).item()


def main(cfg=Config()):
    torch.manual_seed(33)
    model = Scorer(cfg)
    opt = torch.optim.RMSprop(model.parameters(), lr=cfg.lr)
    eeg, stage = night(cfg, 400, 1)
    test = night(cfg, 150, 2)
    for epoch in range(cfg.epochs):
        for rows in torch.randperm(len(eeg)).split(40):
            loss = nn.functional.cross_entropy(model(eeg[rows]), stage[rows])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} kappa {kappa(model, *test, cfg.stages):.3f}")


if __name__ == "__main__":
    main()
