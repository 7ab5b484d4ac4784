# expect: pattern = retain-graph-leak
# expect: also = stored-graph, growing-history, recurrent-state
# expect: raises = nothing
# expect: carrier = wander, self.wander, baseline
"""Beat classifier on a continuous Holter recording, windows in the order of time."""
import math

import torch
import torch.nn as nn


def holter(n_windows, width=90, batch=12):
    """Synthetic two-class beats with slow baseline drift, one batch a window."""
    t = torch.linspace(-1, 1, width)
    for k in range(n_windows):
        label = torch.randint(0, 2, (batch,))
        spread = torch.where(label == 1, 0.18, 0.07)[:, None]
        beat = torch.exp(-((t / spread) ** 2))
        drift = 0.8 * math.sin(0.2 * k) + 0.05 * torch.randn(batch, 1)
        yield beat + drift + 0.03 * torch.randn(batch, width), label


class StreamingBeatNet(nn.Module):
    def __init__(self, width=90, hidden=20, decay=0.9):
        super().__init__()
        self.stem = nn.Linear(width, hidden)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(hidden, 2))
        self.decay = decay
        self.wander = torch.zeros(hidden)

    def forward(self, window):
        f = torch.tanh(self.stem(window))
        # slow estimate of the baseline, carried from window to window
        self.wander = (self.decay * self.wander + (1 - self.decay) * f.mean(0)).detach()  # expect: place
        return self.head(f - self.wander)  # expect: place


class Monitor:
    def __init__(self, net, lr=0.02):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()
        self.history = []

    def observe(self, window, label):
        logits = self.net(window)
        loss = self.criterion(logits, label)
        self.opt.zero_grad()
        loss.backward()  # expect: place
        self.opt.step()
        hit = (logits.argmax(1) == label).float().mean().item()
        self.history.append((loss.item(), hit))
        return hit


def main():
    torch.manual_seed(21)
    monitor = Monitor(StreamingBeatNet())
    for k, (window, label) in enumerate(holter(30)):
        monitor.observe(window, label)
        if k % 10 == 9:
            last = monitor.history[-10:]
            print(f"window {k + 1:3d}  loss {sum(a for a, _ in last) / 10:.3f}  "
                  f"accuracy {sum(b for _, b in last) / 10:.2f}")


main()
