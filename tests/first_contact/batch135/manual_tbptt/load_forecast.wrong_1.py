"""Hourly load forecasting with truncated BPTT by hand: a loss every k1 steps, k2 steps back."""

from collections import deque
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TBPTTConfig:
    k1: int = 2
    k2: int = 4
    hidden: int = 12
    lr: float = 1e-2
    epochs: int = 3


class LoadCell(nn.Module):
    """One hour: weather and calendar in, load and the next state out."""

    def __init__(self, n_inputs, hidden):
        super().__init__()
        self.cell = nn.GRUCell(n_inputs, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state):
        state = self.cell(x, state)
        return self.head(state).squeeze(-1), state


def make_days(n_batches, batch_size, hours, n_inputs):
    generator = torch.Generator().manual_seed(11)
    for _ in range(n_batches):
        phase = 6.28 * torch.rand(batch_size, 1, generator=generator)
        t = torch.arange(hours) / 24 * 6.28
        weather = torch.randn(batch_size, hours, n_inputs - 2, generator=generator)
        clock = torch.stack([(t + phase).sin(), (t + phase).cos()], dim=-1)
        load = 1.5 + (t + phase).sin() + 0.3 * weather.cumsum(1).mean(-1) / 3
        yield {"inputs": torch.cat([clock, weather], dim=-1), "load": load}


class TBPTT:
    def __init__(self, module, cfg):
        self.module, self.cfg = module, cfg
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(module.parameters(), lr=cfg.lr)

    def hours(self, batch):
        yield from zip(batch["inputs"].unbind(1), batch["load"].unbind(1))

    def train_sequence(self, batch):
        cfg = self.cfg
        start = torch.zeros(batch["load"].shape[0], cfg.hidden)
        tape = deque([(None, start)], maxlen=cfg.k2 + 1)
        self.optimizer.zero_grad()
        total, count = 0.0, 0
        for hour, (x, y) in enumerate(self.hours(batch), 1):
            state = tape[-1][1].detach().requires_grad_()
            prediction, new_state = self.module(x, state)
            tape.append((state, new_state))
            if hour % cfg.k1 == 0:
                loss = self.criterion(prediction, y)
                loss.backward(retain_graph=True)
                self.walk_back(tape)
                total, count = total + loss.item(), count + 1
        self.optimizer.step()
        return total / count

    def walk_back(self, tape):
        """Hand the gradient of each state to the step before, at most k2 - 1 times."""
        steps = list(tape)
        for later, earlier in list(zip(steps[:0:-1], steps[-2::-1]))[: self.cfg.k2 - 1]:
            state, _ = later
            before, previous = earlier
            grad, state.grad = state.grad, None
            if before is None:
                break
            previous.backward(grad)


def main():
    torch.manual_seed(0)
    cfg = TBPTTConfig()
    trainer = TBPTT(LoadCell(5, cfg.hidden), cfg)
    for epoch in range(cfg.epochs):
        losses = [trainer.train_sequence(batch) for batch in make_days(4, 8, 24, 5)]
        print(f"epoch {epoch}: mse {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
