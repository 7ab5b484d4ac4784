# expect: pattern = duplicate-backward
# expect: also = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
"""Colour of a glaze after firing, from its recipe and the curve of the kiln; each part of the net has its own clipping."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Part:
    name: str
    params: list
    cap: float
    norm: float = 0.0


class GlazeNet(nn.Module):
    def __init__(self, oxides=9, width=24):
        super().__init__()
        self.recipe = nn.Sequential(nn.Linear(oxides, width), nn.LayerNorm(width), nn.GELU())
        self.curve = nn.GRU(1, width, batch_first=True)
        self.colour = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, 3))

    def forward(self, oxides, heat):
        _, last = self.curve(heat)
        return self.colour(torch.cat([self.recipe(oxides), last[0]], dim=1))


def split_up(net, caps):
    return [Part(name, list(child.parameters()), caps[name]) for name, child in net.named_children()]


class Fitter:
    def __init__(self, net, caps, lr=3e-3):
        self.net = net
        self.parts = split_up(net, caps)
        self.optimizer = torch.optim.AdamW(
            [{"params": p.params, "weight_decay": 0.0 if p.name == "curve" else 1e-2} for p in self.parts], lr=lr)

    def gradients(self, loss):
        """Fill .grad part by part, none of them above its cap."""
        for part in self.parts:
            loss.backward()  # expect: place
            part.norm = float(nn.utils.clip_grad_norm_(part.params, part.cap))

    def step(self, oxides, heat, lab):
        self.optimizer.zero_grad(set_to_none=True)
        loss = (self.net(oxides, heat) - lab).pow(2).sum(1).sqrt().mean()
        self.gradients(loss)  # expect: place
        self.optimizer.step()
        return loss.item()


def firings(n=192, hours=12):
    oxides = torch.rand(n, 9).softmax(dim=1)
    heat = torch.rand(n, hours, 1).cumsum(1) / hours
    top = heat[:, -1]
    lab = torch.cat([oxides[:, :1] * 8 - top, top * oxides[:, 1:2] * 6, torch.cos(3 * top)], dim=1)
    return oxides, heat, lab


def main(epochs=4, size=32):
    oxides, heat, lab = firings()
    fitter = Fitter(GlazeNet(), {"recipe": 1.0, "curve": 0.25, "colour": 0.5})
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(oxides)).split(size):
            total += fitter.step(oxides[rows], heat[rows], lab[rows]) * len(rows)
        norms = "  ".join(f"{p.name} {p.norm:.2f}" for p in fitter.parts)
        print(f"epoch {epoch}  delta E {total / len(oxides):.4f}  {norms}")


if __name__ == "__main__":
    torch.manual_seed(30)
    main()
