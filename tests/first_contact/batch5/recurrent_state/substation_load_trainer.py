# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = states, self.states, c, cell
"""Hourly load of electric substations.

A stack of hand-made LSTM layers is trained on contiguous windows, with the states carried from window to window.
The trainer knows callbacks, gradient accumulation over two windows, an exponential average of the weights for
evaluation, and a schedule for teacher forcing.
"""
from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Iterator, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Window:
    hours: torch.Tensor  # (batch, time, features)
    load: torch.Tensor  # (batch, time)
    fresh: bool  # whether the series starts here


class Series:
    """Several stations, cut into windows that follow each other."""

    def __init__(self, stations: int, hours: int, window: int, seed: int):
        gen = torch.Generator().manual_seed(seed)
        t = torch.arange(hours, dtype=torch.float32)
        phase = torch.rand(stations, 1, generator=gen) * 2
        size = 1 + torch.rand(stations, 1, generator=gen)
        day = torch.sin(2 * math.pi * t / 24 + phase)
        week = 0.3 * torch.cos(2 * math.pi * t / 168 + phase)
        noise = 0.05 * torch.randn(stations, hours, generator=gen)
        self.load = size * (day + week) + noise
        self.hours = torch.stack([
            torch.sin(2 * math.pi * t / 24).expand(stations, -1),
            torch.cos(2 * math.pi * t / 24).expand(stations, -1),
            size.expand(-1, hours),
        ], dim=2)
        self.window = window

    def __iter__(self) -> Iterator[Window]:
        for start in range(0, self.load.size(1) - self.window + 1, self.window):
            part = slice(start, start + self.window)
            yield Window(self.hours[:, part], self.load[:, part], fresh=start == 0)


class Layer(nn.Module):
    def __init__(self, n_in: int, n: int):
        super().__init__()
        self.n = n
        self.x = nn.Linear(n_in, 4 * n)
        self.h = nn.Linear(n, 4 * n, bias=False)

    def start(self, batch: int) -> dict[str, torch.Tensor]:
        return {"hidden": torch.zeros(batch, self.n), "cell": torch.zeros(batch, self.n)}

    def forward(self, x: torch.Tensor, state: dict[str, torch.Tensor]):
        i, f, g, o = (self.x(x) + self.h(state["hidden"])).chunk(4, dim=1)
        cell = torch.sigmoid(f + 1) * state["cell"] + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden, {"hidden": hidden, "cell": cell}


class LoadNet(nn.Module):
    def __init__(self, features: int, width: int, depth: int):
        super().__init__()
        sizes = [features + 1] + [width] * depth
        self.layers = nn.ModuleList(Layer(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def start(self, batch: int):
        return [layer.start(batch) for layer in self.layers]

    def step(self, x, previous, states):
        h = torch.cat([x, previous[:, None]], dim=1)
        after = []
        for layer, state in zip(self.layers, states):
            h, state = layer(h, state)
            after.append(state)
        return self.out(h).squeeze(1), after


class Callback:
    def on_fit_start(self, trainer: "Trainer") -> None: ...
    def on_window_start(self, trainer: "Trainer", window: Window) -> None: ...
    def on_update(self, trainer: "Trainer") -> None: ...
    def on_epoch_end(self, trainer: "Trainer") -> None: ...


class Averages(Callback):
    def __init__(self, decay: float = 0.95):
        self.decay = decay

    def on_fit_start(self, trainer):
        self.slow = {k: v.detach().clone() for k, v in trainer.net.state_dict().items()}

    @torch.no_grad()
    def on_update(self, trainer):
        for k, v in trainer.net.state_dict().items():
            self.slow[k].lerp_(v, 1 - self.decay)


class Forcing(Callback):
    """Less and less of the true load is fed back."""

    def on_fit_start(self, trainer):
        trainer.forcing = 1.0

    def on_epoch_end(self, trainer):
        trainer.forcing *= 0.8


class CarryStates(Callback):
    """States go on from window to window; a series that starts anew starts with zeros."""

    def on_window_start(self, trainer, window):
        if window.fresh or trainer.states is None:
            trainer.states = trainer.net.start(len(window.load))
        else:
            for state in trainer.states:
                state["hidden"] = state["hidden"].detach()  # expect: place


class Journal(Callback):
    def on_epoch_end(self, trainer):
        print(f"epoch {trainer.epoch} loss {trainer.mean:.4f} forcing {trainer.forcing:.2f}")


class Trainer:
    def __init__(self, net: LoadNet, lr: float, accumulate: int, callbacks: list[Callback]):
        self.net, self.accumulate, self.callbacks = net, accumulate, callbacks
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.states: Optional[list] = None
        self.forcing, self.mean, self.epoch = 1.0, 0.0, 0

    def tell(self, event: str, *args) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def window_loss(self, window: Window) -> torch.Tensor:
        previous = window.load[:, 0]
        losses = []
        for t in range(1, window.load.size(1)):
            guess, self.states = self.net.step(window.hours[:, t], previous, self.states)  # expect: place
            losses.append(F.smooth_l1_loss(guess, window.load[:, t]))
            forced = torch.rand(()) < self.forcing
            previous = window.load[:, t] if forced else guess.detach()
        return torch.stack(losses).mean()

    def fit(self, series: Series, epochs: int) -> None:
        self.tell("on_fit_start")
        for self.epoch in range(epochs):
            seen = []
            for n, window in enumerate(series, 1):
                self.tell("on_window_start", window)
                loss = self.window_loss(window)
                (loss / self.accumulate).backward()  # expect: place
                seen.append(loss.item())
                if n % self.accumulate == 0:
                    nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    self.tell("on_update")
            self.mean = sum(seen) / len(seen)
            self.tell("on_epoch_end")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--width", type=int, default=12)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--window", type=int, default=8)
    args, _ = parser.parse_known_args()
    torch.manual_seed(2024)
    net = LoadNet(3, args.width, args.depth)
    callbacks = [Averages(), Forcing(), CarryStates(), Journal()]
    Trainer(net, 5e-3, 2, callbacks).fit(Series(3, 48, args.window, seed=7), args.epochs)


if __name__ == "__main__":
    main()
