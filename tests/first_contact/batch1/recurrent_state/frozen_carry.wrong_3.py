"""Next-value prediction on a long signal, read window by window with a carry."""
from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Carry:
    hx: torch.Tensor
    cx: torch.Tensor
    seen: int = 0

    @classmethod
    def zeros(cls, batch: int, size: int) -> Carry:
        return cls(torch.zeros(batch, size), torch.zeros(batch, size))


class Reader(nn.Module):
    def __init__(self, size: int = 14):
        super().__init__()
        self.size = size
        self.cell = nn.LSTMCell(1, size)
        self.readout = nn.Linear(size, 1)

    def tick(self, x: torch.Tensor, carry: Carry) -> tuple[torch.Tensor, Carry]:
        hx, cx = self.cell(x, (carry.hx, carry.cx))
        return self.readout(hx), replace(carry, hx=hx, cx=cx, seen=carry.seen + 1)

    def window(self, xs: torch.Tensor, carry: Carry) -> tuple[torch.Tensor, Carry]:
        preds = []
        for x in xs:
            pred, carry = self.tick(x, carry)
            preds.append(pred)
        return torch.stack(preds), carry


def signal(length: int, batch: int) -> torch.Tensor:
    t = torch.arange(length, dtype=torch.float32)[:, None] / 5
    phase = torch.rand(1, batch) * 6
    return (torch.sin(t + phase) + 0.3 * torch.sin(3.1 * t)).unsqueeze(-1)


def fit(window: int = 8, n_windows: int = 10, batch: int = 6) -> list[float]:
    reader = Reader()
    opt = torch.optim.RMSprop(reader.parameters(), lr=5e-3)
    data = signal(window * n_windows + 1, batch)
    carry = Carry.zeros(batch, reader.size)
    trace = []
    for w in range(n_windows):
        lo = w * window
        preds, carry = reader.window(data[lo : lo + window], carry)
        loss = F.mse_loss(preds, data[lo + 1 : lo + window + 1])
        trace.append(loss)
    opt.zero_grad()
    torch.stack(trace).sum().backward()
    opt.step()
    trace = [loss.item() for loss in trace]
    print("seen", carry.seen, "values")
    return trace


if __name__ == "__main__":
    torch.manual_seed(4)
    trace = fit()
    print("first %.4f, last %.4f" % (trace[0], trace[-1]))
