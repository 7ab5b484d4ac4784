# expect: pattern = none
# expect: raises = nothing
from dataclasses import dataclass, field
from typing import Callable

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sines(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.phase = g.uniform(0, 6.28, size=n).astype(np.float32)

    def __len__(self):
        return len(self.phase)

    def __getitem__(self, i):
        t = np.linspace(0, 3, 20, dtype=np.float32)
        return np.sin(t + self.phase[i])[:-1, None], np.sin(t + self.phase[i])[1:, None]


@dataclass
class Loop:
    model: nn.Module
    opt: torch.optim.Optimizer
    hooks: dict[str, list[Callable]] = field(default_factory=dict)
    state: dict = field(default_factory=dict)

    def on(self, event):
        return lambda f: self.hooks.setdefault(event, []).append(f) or f

    def emit(self, event):
        for hook in self.hooks.get(event, []):
            hook(self.state)

    def run(self, loader, epochs):
        for self.state["epoch"] in range(epochs):
            for x, y in loader:
                out, _ = self.model[0](x)
                self.state["loss"] = loss = nn.functional.mse_loss(self.model[1](out), y)
                self.opt.zero_grad()
                loss.backward()
                self.emit("after_backward")
                self.opt.step()
            self.emit("epoch_end")


torch.manual_seed(5)
model = nn.ModuleList([nn.GRU(1, 8, batch_first=True), nn.Linear(8, 1)])
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
loop = Loop(model, opt)


@loop.on("after_backward")
def clip(state):
    state["norm"] = float(nn.utils.clip_grad_norm_(model.parameters(), 0.5))


@loop.on("epoch_end")
def report(state):
    scheduler.step()
    print(state["epoch"], state["loss"].item(), state["norm"])


loop.run(DataLoader(Sines(24, 0), batch_size=8, shuffle=True), epochs=2)
