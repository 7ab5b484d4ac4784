# Hooks around a step: one of them, meant to watch gradients, walks the loss as well.
import torch
from torch import nn


class Callback:
    def on_loss(self, trainer): ...

    def on_step(self, trainer): ...


class WatchGradients(Callback):
    def __init__(self):
        self.norms = []

    def on_loss(self, trainer):
        trainer.optimizer.zero_grad()
        trainer.loss.backward(retain_graph=True)
        self.norms.append(sum(p.grad.norm().item() for p in trainer.model.parameters()))


class Trainer:
    def __init__(self, model, *callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.loss = None

    def fire(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def fit(self, loader):
        for x, y in loader:
            self.loss = nn.functional.cross_entropy(self.model(x), y)
            self.fire("on_loss")
            self.loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.fire("on_step")


torch.manual_seed(0)
watch = WatchGradients()
x = torch.randn(24, 4)
Trainer(nn.Linear(4, 3), watch).fit(list(zip(x.split(6), x[:, :3].argmax(1).split(6))))
print(watch.norms)
