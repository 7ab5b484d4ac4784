# expect: pattern = stored-graph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scale, self.scale, scales, self.scales, value
"""A small trainer with hooks: losses of very different size are divided by their own running size."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Hook:
    def before_loss(self, trainer): ...
    def after_loss(self, trainer): ...
    def after_epoch(self, trainer): ...


class RunningScales(Hook):
    """Keeps an average of each term and divides the following ones by it."""

    def __init__(self, momentum=0.8):
        self.momentum, self.scales = momentum, {}

    def after_loss(self, trainer):
        m = self.momentum
        balanced = 0
        for name, value in trainer.terms.items():
            before = self.scales.get(name)
            balanced = balanced + (value if before is None else value / before)
            self.scales[name] = value if before is None else m * before + (1 - m) * value  # expect: place
        trainer.loss = balanced


class Announce(Hook):
    def after_epoch(self, trainer):
        print(trainer.epoch, {k: round(v.item(), 3) for k, v in trainer.terms.items()})


class Trainer:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer, self.hooks = model, optimizer, hooks

    def call(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def fit(self, batches, epochs):
        for self.epoch in range(epochs):
            for x, depth, kind in batches:
                self.call("before_loss")
                d, k = self.model(x)
                self.terms = {"depth": F.l1_loss(d, depth), "kind": F.cross_entropy(k, kind)}
                self.loss = sum(self.terms.values())
                self.call("after_loss")
                self.optimizer.zero_grad()
                self.loss.backward()  # expect: place
                self.optimizer.step()
            self.call("after_epoch")


class Sonar(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 24), nn.Tanh())
        self.depth, self.kind = nn.Linear(24, 1), nn.Linear(24, 3)

    def forward(self, x):
        h = self.trunk(x)
        return self.depth(h).squeeze(1), self.kind(h)


def pings(n):
    x = torch.randn(n, 10)
    return x, 40 * x[:, 0] + 100, (x[:, 1] > 0).long() + (x[:, 2] > 1).long()


torch.manual_seed(12)
model = Sonar()
trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=3e-3), [RunningScales(), Announce()])
trainer.fit([pings(16) for _ in range(4)], epochs=3)
