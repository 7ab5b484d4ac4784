"""Spiking classifier for (fake) event-camera gestures, trained with surrogate gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

T_STEPS, CHANNELS, CLASSES = 12, 16, 4
BATCH = 16


class FastSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1.0 + 10.0 * v.abs()) ** 2


class LIF(nn.Module):
    """Leaky integrate-and-fire layer. `reset` brings the membrane back to rest."""

    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold
        self.reset()

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        spikes = FastSigmoid.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes.detach() * self.threshold
        return spikes


class GestureNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(CHANNELS, hidden)
        self.lif1 = LIF()
        self.fc2 = nn.Linear(hidden, CLASSES)
        self.lif2 = LIF(beta=0.8)

    def reset(self):
        self.lif1.reset()
        self.lif2.reset()

    def forward(self, events):
        counts = 0
        for frame in events:
            h = self.lif1(self.fc1(frame))
            counts = counts + self.lif2(self.fc2(h))
        return counts


def make_recordings(n, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (n,), generator=gen)
    rates = torch.full((n, CHANNELS), 0.1)
    for i, y in enumerate(labels.tolist()):
        rates[i, y * 4:(y + 1) * 4] = 0.7
    events = (torch.rand(T_STEPS, n, CHANNELS, generator=gen) < rates).float()
    return events, labels


def batches(events, labels):
    for start in range(0, labels.numel(), BATCH):
        yield events[:, start:start + BATCH], labels[start:start + BATCH]


@torch.no_grad()
def evaluate(net, events, labels):
    hits = 0
    for x, y in batches(events, labels):
        net.reset()
        hits += (net(x).argmax(1) == y).sum().item()
    return hits / labels.numel()


def main():
    train_x, train_y = make_recordings(96, seed=0)
    test_x, test_y = make_recordings(48, seed=1)
    net = GestureNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    net.reset()

    for epoch in range(4):
        running = 0.0
        for x, y in batches(train_x, train_y):
            counts = net(x)
            loss = F.cross_entropy(counts, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for lif in (net.lif1, net.lif2):
                lif.mem = lif.mem.detach()
            running += loss.item()
        print(f"epoch {epoch}: loss {running:.3f}  acc {evaluate(net, test_x, test_y):.2f}")


if __name__ == "__main__":
    main()
