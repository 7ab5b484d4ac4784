

"""Quantisation-aware training of a keyword detector for a 4-bit accelerator, with a
learned step size for every layer's weights and activations."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F


class LearnedStep(nn.Module):
    def __init__(self, bits, signed, start):
        super().__init__()
        self.low = -(2 ** (bits - 1)) if signed else 0
        self.high = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
        self.step = nn.Parameter(torch.tensor(float(start)))

    def forward(self, x):
        scaled = (x / self.step).clamp(self.low, self.high)
        snapped = torch.round(scaled) * self.step
        return snapped


class QuantLinear(nn.Module):
    def __init__(self, n_in, n_out, bits):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) * (2 / n_in) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.qw = LearnedStep(bits, signed=True, start=0.2)
        self.qx = LearnedStep(bits, signed=False, start=0.3)

    def forward(self, x):
        return F.linear(self.qx(x), self.qw(self.weight), self.bias)


class Detector(nn.Module):
    def __init__(self, bands, hidden, words, bits):
        super().__init__()
        self.l1 = QuantLinear(bands, hidden, bits)
        self.l2 = QuantLinear(hidden, hidden, bits)
        self.l3 = nn.Linear(hidden, words)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.l3(x)


def filterbanks(n, bands, words, generator):
    shape = torch.rand(words, bands, generator=torch.Generator().manual_seed(99))
    word = torch.randint(0, words, (n,), generator=generator)
    return (shape[word] + 0.2 * torch.randn(n, bands, generator=generator)).relu(), word


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bits", type=int, default=4)
    ap.add_argument("--words", type=int, default=5)
    ap.add_argument("--rounds", type=int, default=40)
    opt = ap.parse_args()
    torch.manual_seed(12)
    gen = torch.Generator().manual_seed(13)
    net = Detector(20, 24, opt.words, opt.bits)
    steps = [p for n, p in net.named_parameters() if n.endswith("step")]
    rest = [p for n, p in net.named_parameters() if not n.endswith("step")]
    adam = torch.optim.Adam([{"params": rest, "lr": 3e-3}, {"params": steps, "lr": 1e-3}])
    for r in range(opt.rounds):
        x, word = filterbanks(64, 20, opt.words, gen)
        cost = F.cross_entropy(net(x), word)
        adam.zero_grad()
        cost.backward()
        adam.step()
        if r % 10 == 9:
            sizes = " ".join(f"{s.item():.3f}" for s in steps)
            print(f"round {r + 1}: cost {cost.item():.4f}  step sizes {sizes}")


if __name__ == "__main__":
    main()
