import torch
import torch.nn as nn


class ActivationRecorder:
    """Records the output of the named layers with forward hooks."""

    def __init__(self, model, names):
        self.current, self.previous = {}, {}
        self.handles = [
            module.register_forward_hook(self._make(name))
            for name, module in model.named_modules() if name in names
        ]

    def _make(self, name):
        def hook(module, inputs, output):
            self.current[name] = output
        return hook

    def smoothness(self):
        penalty = sum(
            (self.current[k] - self.previous[k]).pow(2).mean() for k in self.previous
        )
        self.previous = {k: v.detach() for k, v in self.current.items()}
        return penalty

    def close(self):
        for h in self.handles:
            h.remove()


class FrameNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(4, 6, 3, stride=2, padding=1), nn.Tanh())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(6 * 4 * 4, 2))

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


def clip(n_frames, batch=4, size=8):
    """A bright dot that drifts; predict where it is."""
    pos = torch.rand(batch, 2) * (size - 1)
    vel = torch.randn(batch, 2) * 0.4
    grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"), -1).float()
    for _ in range(n_frames):
        d2 = (grid[None] - pos[:, None, None]).pow(2).sum(-1)
        yield torch.exp(-d2 / 2)[:, None], pos / size
        pos = (pos + vel).clamp(0, size - 1)


def train(clips=2, frames=5, weight=2.0):
    net = FrameNet()
    recorder = ActivationRecorder(net, {"stem", "body"})
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    for c in range(clips):
        recorder.previous = {}
        running = 0.0
        for frame, where in clip(frames):
            loss = (net(frame) - where).pow(2).mean() + weight * recorder.smoothness()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print("clip", c, "loss", round(running / frames, 4))
    recorder.close()


torch.manual_seed(14)
train()
