import torch
import torch.nn as nn


class Link:
    """One tick: the state that went in (cut off) and the state that came out."""

    def __init__(self, before, after):
        self.before = before
        self.after = after


class ValveEstimator(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.width = width
        self.mix = nn.Linear(2 + width, width)
        self.keep = nn.Linear(2 + width, width)
        self.read = nn.Linear(width, 1)

    def tick(self, sensors, inner):
        z = torch.cat([sensors, inner], dim=1)
        gate = torch.sigmoid(self.keep(z))
        inner = gate * inner + (1 - gate) * torch.tanh(self.mix(z))
        return self.read(inner), inner


def flight(ticks, cabins):
    valve = torch.zeros(cabins)
    pressure = torch.ones(cabins)
    for _ in range(ticks):
        valve = (valve + 0.2 * torch.randn(cabins)).clamp(-1, 1)
        pressure = 0.9 * pressure + 0.1 * (1 - 0.5 * valve)
        outside = torch.rand(cabins)
        yield torch.stack([pressure, outside], 1), valve.unsqueeze(1)


def train(window=6, ticks=60, cabins=8):
    torch.manual_seed(17)
    net = ValveEstimator()
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    inner = torch.zeros(cabins, net.width)
    links = []
    for t, (sensors, valve) in enumerate(flight(ticks, cabins)):
        before = inner.detach().requires_grad_()
        guess, inner = net.tick(sensors, before)
        links.append(Link(before, inner))
        if (t + 1) % window:
            continue
        # end of a window: loss on the last tick, then hand the gradient back tick by tick
        loss = nn.functional.mse_loss(guess, valve)
        opt.zero_grad()
        loss.backward()
        for j in range(len(links) - 1, 0, -1):
            handed = links[j].before.grad
            links[j - 1].after.backward(handed)
        opt.step()
        links.clear()
        print(f"tick {t + 1:3d}  loss {loss.item():.4f}")
    return net


if __name__ == "__main__":
    train()
