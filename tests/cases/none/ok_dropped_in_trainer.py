"""A trainer with everything at once: accumulation, clipping, EMA, callbacks, evaluation."""
import copy
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    epochs: int = 2
    accumulate: int = 2
    clip: float = 1.0
    ema: float = 0.9


class Trainer:
    def __init__(self, model, config, callbacks=()):
        self.model, self.config, self.callbacks = model, config, callbacks
        self.ema_model = copy.deepcopy(model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        self.state = {"step": 0, "loss": 0.0}

    def compute_loss(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.model(x), y)

    @torch.no_grad()
    def update_ema(self):
        for e, p in zip(self.ema_model.parameters(), self.model.parameters()):
            e.lerp_(p, 1 - self.config.ema)

    def fit(self, batches):
        for _ in range(self.config.epochs):
            for i, batch in enumerate(batches):
                loss = self.compute_loss(batch) / self.config.accumulate
                loss.backward()
                self.state["loss"] += loss.item()
                if (i + 1) % self.config.accumulate == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    self.update_ema()
                    self.state["step"] += 1
                    for callback in self.callbacks:
                        callback(self)
                    self.state["loss"] = 0.0

    @torch.no_grad()
    def evaluate(self, batches):
        return sum((self.ema_model(x).argmax(1) == y).float().mean().item() for x, y in batches) / len(batches)


torch.manual_seed(0)
batches = [(torch.randn(8, 5), torch.randint(0, 3, (8,))) for _ in range(4)]
trainer = Trainer(nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3)), Config(), [lambda t: print(t.state)])
trainer.fit(batches)
print(trainer.evaluate(batches))
