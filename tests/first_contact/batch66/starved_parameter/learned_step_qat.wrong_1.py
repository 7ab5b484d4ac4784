# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = step, self.step, q
"""Quantisation-aware training with a learned step size per tensor (weights 3 bit, activations 4 bit)."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F


class StepQuantizer(nn.Module):
    def __init__(self, bits, signed):
        super().__init__()
        self.lo = -(2 ** (bits - 1)) if signed else 0
        self.hi = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
        self.step = nn.Parameter(torch.tensor(1.0))
        self.register_buffer("calibrated", torch.tensor(False))

    @torch.no_grad()
    def calibrate(self, t):
        self.step.fill_(2 * t.abs().mean() / self.hi**0.5)
        self.calibrated.fill_(True)

    def forward(self, t):
        if not self.calibrated:
            self.calibrate(t)
        q = torch.round(t / self.step).clamp(self.lo, self.hi) * self.step  # expect: place
        # straight-through: forward uses q, backward sees t
        return q  # expect: place


class QLinear(nn.Linear):
    def __init__(self, n_in, n_out, w_bits=3, a_bits=4):
        super().__init__(n_in, n_out)
        self.wq = StepQuantizer(w_bits, signed=True)
        self.aq = StepQuantizer(a_bits, signed=False)

    def forward(self, x):
        return F.linear(self.aq(x), self.wq(self.weight), self.bias)


def build(n_in, n_out, width):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.ReLU(),
        QLinear(width, width), nn.ReLU(),
        QLinear(width, width), nn.ReLU(),
        nn.Linear(width, n_out),
    )


def param_groups(net, lr, step_lr):
    steps = [p for n, p in net.named_parameters() if n.endswith(".step")]
    other = [p for n, p in net.named_parameters() if not n.endswith(".step")]
    return [{"params": other, "lr": lr, "weight_decay": 1e-4}, {"params": steps, "lr": step_lr, "weight_decay": 0.0}]


def blobs(n, n_in, n_out):
    centres = torch.randn(n_out, n_in) * 1.2
    y = torch.randint(0, n_out, (n,))
    return centres[y] + torch.randn(n, n_in), y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=5e-2)
    ap.add_argument("--step-lr", type=float, default=1e-3)
    args = ap.parse_args()

    torch.manual_seed(17)
    x, y = blobs(512, 12, 5)
    net = build(12, 5, 32)
    net(x[:64])  # fills in the step sizes
    opt = torch.optim.SGD(param_groups(net, args.lr, args.step_lr), momentum=0.9)

    for epoch in range(args.epochs):
        order = torch.randperm(len(x))
        running = 0.0
        for idx in order.split(64):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(idx)
        steps = {n: round(p.item(), 4) for n, p in net.named_parameters() if n.endswith(".step")}
        print(f"epoch {epoch}: loss {running / len(x):.4f}  steps {steps}")

    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    print(f"train accuracy at 3/4 bit: {acc:.3f}")


if __name__ == "__main__":
    main()
