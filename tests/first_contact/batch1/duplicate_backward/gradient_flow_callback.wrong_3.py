from typing import Callable, Dict, List

import torch
import torch.nn as nn


class Callback:
    def on_loss(self, trainer, loss): ...
    def on_step(self, trainer): ...
    def on_end(self, trainer): ...


class GradientFlow(Callback):
    """Every few steps, keeps the gradient norm of each layer."""

    def __init__(self, every: int = 3):
        self.every = every
        self.norms: Dict[str, List[float]] = {}

    def on_loss(self, trainer, loss):
        if trainer.global_step % self.every:
            return
        loss.backward()
        for name, p in trainer.model.named_parameters():
            if p.grad is not None and name.endswith("weight"):
                self.norms.setdefault(name, []).append(p.grad.norm().item())

    def on_end(self, trainer):
        for name, values in self.norms.items():
            print(f"  {name:12s}", " ".join(f"{v:.3f}" for v in values))


class Progress(Callback):
    def __init__(self):
        self.losses = []

    def on_loss(self, trainer, loss):
        self.losses.append(loss.item())

    def on_end(self, trainer):
        print("loss %.4f -> %.4f in %d steps" % (self.losses[0], self.losses[-1], trainer.global_step))


class Trainer:
    def __init__(self, model: nn.Module, loss_fn: Callable, callbacks: List[Callback], lr: float = 0.02):
        self.model, self.loss_fn, self.callbacks = model, loss_fn, callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.global_step = 0

    def emit(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(self, *args)

    def training_step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        self.emit("on_loss", self.loss_fn(self.model(x), y))
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.global_step += 1
        self.emit("on_step")

    def fit(self, loader, epochs=1):
        for _ in range(epochs):
            for batch in loader:
                self.training_step(batch)
        self.emit("on_end")


if __name__ == "__main__":
    torch.manual_seed(4242)
    x = torch.randn(60, 3)
    y = torch.sin(x.sum(dim=1, keepdim=True))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=12, shuffle=True)
    model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
    Trainer(model, nn.MSELoss(), [Progress(), GradientFlow()]).fit(loader, epochs=2)
