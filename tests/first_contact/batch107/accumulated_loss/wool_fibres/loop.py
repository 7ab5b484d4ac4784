"""What Lightning does for us, as far as we need it."""
from collections import defaultdict

import torch


class Meter:
    """Means since the last reset, by name."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.sums = defaultdict(float)
        self.seen = 0

    def update(self, values, n):
        for name, value in values.items():
            self.sums[name] = self.sums[name] + value * n  # expect: place
        self.seen += n

    def read(self):
        return {name: total.item() / self.seen for name, total in self.sums.items()}


class Loop:
    def __init__(self, epochs, batch, show):
        self.epochs, self.batch, self.show = epochs, batch, show
        self.meter = Meter()

    def _batches(self, data, shuffle):
        x, y = data
        order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
        for rows in order.split(self.batch):
            yield x[rows], y[rows]

    def fit(self, module, train, val):
        optimizer, schedule = module.configure()
        history, step = [], 0
        for epoch in range(self.epochs):
            module.train()
            self.meter.reset()
            for batch in self._batches(train, shuffle=True):
                parts = module.training_step(batch)
                optimizer.zero_grad()
                parts["loss"].backward()
                torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
                optimizer.step()
                self.meter.update(parts, len(batch[0]))  # expect: place
                step += 1
                if step % self.show == 0:
                    shown = " ".join(f"{k} {v:.4f}" for k, v in self.meter.read().items())
                    print(f"[{epoch}:{step}] {shown}")
            schedule.step()
            figures = self.meter.read()
            figures.update(self.validate(module, val))
            history.append(figures)
        return history

    @torch.no_grad()
    def validate(self, module, val):
        module.eval()
        meter = Meter()
        for batch in self._batches(val, shuffle=False):
            meter.update(module.validation_step(batch), len(batch[0]))
        return meter.read()
