# expect: pattern = none
"""Valve faults in a stream: two recurrent layers in a dict of states, cut between windows."""
import torch
from torch import nn


def cut(tree):
    if torch.is_tensor(tree):
        return tree.detach()
    if isinstance(tree, dict):
        return {key: cut(value) for key, value in tree.items()}
    return tuple(cut(part) for part in tree)


class ValveWatch(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.low = nn.GRUCell(channels, width)
        self.high = nn.LSTMCell(width, width)
        self.alarm = nn.Linear(width, 1)
        self.width = width

    def fresh(self, batch):
        zeros = torch.zeros(batch, self.width)
        return {"low": zeros, "high": (zeros, zeros)}

    def forward(self, samples, state):
        alarms = []
        for sample in samples.unbind(1):
            state["low"] = self.low(sample, state["low"])
            state["high"] = self.high(state["low"], state["high"])
            alarms.append(self.alarm(state["high"][0]))
        return torch.cat(alarms, dim=1), state


class Meter:
    """Keeps the last losses in a ring, written in place."""

    def __init__(self, size):
        self.ring, self.at = torch.zeros(size), 0

    def add(self, value):
        self.ring[self.at % len(self.ring)] = value.detach()
        self.at += 1

    def mean(self):
        return self.ring[:min(self.at, len(self.ring))].mean().item()


def stream(valves, ticks, rng):
    signal = torch.randn(valves, ticks, 4, generator=rng)
    fault = (signal[..., 0].cumsum(1) > 2.0).float()
    return signal, fault


def main(window=10):
    torch.manual_seed(61)
    rng = torch.Generator().manual_seed(62)
    signal, fault = stream(6, 120, rng)
    watch, meter = ValveWatch(4, 12), Meter(8)
    opt = torch.optim.Adam(watch.parameters(), lr=1e-2)
    for epoch in range(3):
        state = watch.fresh(6)
        for lo in range(0, signal.shape[1], window):
            state = cut(state)
            logits, state = watch(signal[:, lo:lo + window], state)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, fault[:, lo:lo + window])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(watch.parameters(), 1.0)
            opt.step()
            meter.add(loss)
        print(f"epoch {epoch}: recent loss {meter.mean():.4f}")


if __name__ == "__main__":
    main()
