# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = centers, self.centers, mean
"""Few-shot style classifier: class prototypes are running means kept by a callback."""
from collections import defaultdict

import torch
from torch import nn


class Callback:
    def on_epoch_start(self, trainer): ...
    def on_batch_end(self, trainer, z, y): ...


class PrototypeTracker(Callback):
    def __init__(self, classes, dim, momentum=0.8):
        self.momentum = momentum
        self.centers = {c: torch.zeros(dim) for c in range(classes)}
        self.counts = defaultdict(int)

    def on_batch_end(self, trainer, z, y):
        for c in y.unique().tolist():
            mean = z[y == c].mean(0)
            if self.counts[c] == 0:
                self.centers[c] = mean  # expect: place
            else:
                self.centers[c] = self.momentum * self.centers[c] + (1 - self.momentum) * mean  # expect: place
            self.counts[c] += 1

    def matrix(self):
        return torch.stack([self.centers[c] for c in sorted(self.centers)])


class Trainer:
    def __init__(self, net, classes, dim, callbacks=()):
        self.net = net
        self.head = nn.Linear(dim, classes)
        self.tracker = PrototypeTracker(classes, dim)
        self.callbacks = [self.tracker, *callbacks]
        self.opt = torch.optim.AdamW([*net.parameters(), *self.head.parameters()], lr=3e-3)

    def fire(self, name, *args):
        for cb in self.callbacks:
            getattr(cb, name)(self, *args)

    def losses(self, x, y):
        z = self.net(x)
        yield "ce", nn.functional.cross_entropy(self.head(z), y), z
        distance = torch.cdist(z, self.tracker.matrix())  # expect: place
        pull = distance.gather(1, y[:, None]).mean()
        push = distance.mean()
        yield "proto", 0.1 * (pull - 0.5 * push), z

    def run(self, batches, epochs=2):
        for epoch in range(epochs):
            self.fire("on_epoch_start")
            for x, y in batches:
                named = {name: (value, z) for name, value, z in self.losses(x, y)}
                total = sum(value for value, _ in named.values())
                self.opt.zero_grad()
                total.backward()  # expect: place
                self.opt.step()
                self.fire("on_batch_end", named["ce"][1], y)  # expect: place
            print(epoch, {k: round(v[0].item(), 4) for k, v in named.items()})


def blobs(n, classes=4, d=5):
    means = 2 * torch.randn(classes, d)
    out = []
    for _ in range(n):
        y = torch.randint(0, classes, (20,))
        out.append((means[y] + torch.randn(20, d), y))
    return out


if __name__ == "__main__":
    torch.manual_seed(31)
    body = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 6))
    Trainer(body, classes=4, dim=6).run(blobs(5))
