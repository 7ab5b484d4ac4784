"""Voicing of organ pipes: speech, pitch and timbre from one recording, three heads on one trunk.

The trunk's output is cut off as a leaf. Each head walks back to that leaf on its own, so that
its activations can go before the next head runs, and the trunk is walked once, at the end.
"""
import torch
import torch.nn.functional as F
from torch import nn


def pipes(count, samples=64):
    t = torch.arange(samples) / samples
    pitch = 4 + 8 * torch.rand(count)
    bright = torch.rand(count)
    slow = torch.rand(count) < 0.4
    rise = torch.where(slow, 0.5, 0.08)
    wave = torch.sin(6.283 * pitch[:, None] * t) + bright[:, None] * torch.sin(12.566 * pitch[:, None] * t)
    sound = (1 - torch.exp(-t / rise[:, None])) * wave + 0.05 * torch.randn(count, samples)
    return sound, {"speech": slow.long(), "pitch": (pitch - 8) / 4, "timbre": bright}


class Trunk(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 9, stride=2, padding=4)
        self.mix = nn.Linear(24, width)

    def forward(self, sound):
        h = F.relu(self.conv(sound[:, None]), inplace=True)
        pooled = torch.cat([h.mean(-1), h[..., :8].mean(-1)], -1)
        return F.gelu(self.mix(pooled))


TASKS = {
    "speech": (2, F.cross_entropy, 1.0),
    "pitch": (1, lambda out, y: F.mse_loss(out.squeeze(-1), y), 1.0),
    "timbre": (1, lambda out, y: F.smooth_l1_loss(out.squeeze(-1), y), 4.0),
}


class Voicer(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.trunk = Trunk(width)
        self.heads = nn.ModuleDict({
            name: nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, outputs))
            for name, (outputs, _, _) in TASKS.items()
        })


def update(net, opt, sound, wanted):
    opt.zero_grad()
    features = net.trunk(sound)
    cut = features.detach().requires_grad_()
    report = {}
    for name, (_, criterion, weight) in TASKS.items():
        loss = weight * criterion(net.heads[name](cut), wanted[name])
        loss.backward()
        report[name] = loss.item()
    report["pull"] = cut.grad.norm().item()
    features.backward(cut.grad)
    opt.step()
    return report


@torch.no_grad()
def examine(net, sound, wanted):
    features = net.trunk(sound)
    speech = net.heads["speech"](features).argmax(-1)
    return {"speech": (speech == wanted["speech"]).float().mean().item()} | {
        name: (net.heads[name](features).squeeze(-1) - wanted[name]).abs().mean().item()
        for name in ("pitch", "timbre")
    }


if __name__ == "__main__":
    torch.manual_seed(37)
    net = Voicer()
    opt = torch.optim.Adam([{"params": net.trunk.parameters(), "lr": 3e-3},
                            {"params": net.heads.parameters(), "lr": 6e-3}])
    held = pipes(64)
    for step in range(1, 41):
        report = update(net, opt, *pipes(32))
        if step % 10 == 0:
            print(step, {k: round(v, 3) for k, v in report.items()},
                  {k: round(v, 3) for k, v in examine(net, *held).items()})
