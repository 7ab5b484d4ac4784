"""Spiking net that hears breaking glass in short clips of a microphone's spectrum."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

TICKS, BANDS, CLASSES = 12, 16, 3


class Heaviside(torch.autograd.Function):
    """A step forwards, a bump backwards."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + 5 * x.abs()) ** 2


class Leaky(nn.Module):
    """Leaky integrate and fire; keeps its membrane between ticks."""

    def __init__(self, decay=0.85, threshold=0.6):
        super().__init__()
        self.decay = nn.Parameter(torch.tensor(decay))
        self.threshold = threshold
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.decay.clamp(0, 1) * self.mem + current
        spikes = Heaviside.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes.detach() * self.threshold
        return spikes


class SpikingBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.fire = Leaky()

    def forward(self, spikes):
        return self.fire(self.norm(self.inner(spikes))) + spikes


class GlassNet(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        self.stem = nn.Linear(BANDS, width)
        self.stem_fire = Leaky()
        self.blocks = nn.Sequential(*[SpikingBlock(width) for _ in range(depth)])
        self.readout = nn.Linear(width, CLASSES)

    def forward(self, frame):
        return self.readout(self.blocks(self.stem_fire(self.stem(frame))))


def reset_states(net):
    """Every clip is a recording of its own: all neurons start it at rest."""
    for layer in net.children():
        if isinstance(layer, Leaky):
            layer.mem = None


def run_clip(net, clips):
    reset_states(net)
    votes = [net(clips[:, tick]) for tick in range(TICKS)]
    return torch.stack(votes, dim=1)


def make_loader():
    labels = torch.randint(0, CLASSES, (96,))
    clips = torch.rand(96, TICKS, BANDS)
    for k in range(CLASSES):
        clips[labels == k, :, 4 * k : 4 * k + 5] += 0.8
    return DataLoader(TensorDataset(clips, labels), batch_size=32, shuffle=True)


def train_one_epoch(net, loader, optimizer):
    net.train()
    hits, seen = 0, 0
    for clips, labels in loader:
        votes = run_clip(net, clips)
        loss = sum(F.cross_entropy(votes[:, t], labels) for t in range(TICKS)) / TICKS
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        hits += (votes.mean(1).argmax(1) == labels).sum().item()
        seen += len(labels)
    return loss.item(), hits / seen


def main():
    torch.manual_seed(21)
    net = GlassNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    loader = make_loader()
    for epoch in range(3):
        loss, accuracy = train_one_epoch(net, loader, optimizer)
        print(f"epoch {epoch}: loss {loss:.4f} accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
