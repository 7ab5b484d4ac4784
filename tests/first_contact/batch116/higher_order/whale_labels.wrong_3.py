"""Detect whale calls from volunteers' labels, of which about a third are wrong.

A small net looks at how badly a clip fits its label and says how far to trust it. It is
taught by clips that experts at three listening stations went over: if the detector had
made one step with these weights, how well would it do there?
"""

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

BANDS = 16
PEEK_LR = 0.5


def clips(n, gen, shift=0.0, wrong=0.0):
    calls = torch.randint(2, (n,), generator=gen)
    tone = torch.linspace(-1, 1, BANDS).mul(3.0).sin()
    x = torch.randn(n, BANDS, generator=gen) + shift + calls[:, None] * tone
    flipped = torch.rand(n, generator=gen) < wrong
    return x, torch.where(flipped, 1 - calls, calls)


def make_detector():
    return nn.Sequential(nn.Linear(BANDS, 12), nn.Tanh(), nn.Linear(12, 2))


def make_trust():
    return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())


def teach(detector, trust, volunteers, stations, rounds=15):
    trust_optimizer = torch.optim.Adam(trust.parameters(), lr=0.02)
    detector_optimizer = torch.optim.SGD(detector.parameters(), lr=0.3)

    def misfit(weights, batch):
        x, y = batch
        return F.cross_entropy(functional_call(detector, weights, (x,)), y, reduction="none")

    def trusted(weights, batch):
        each = misfit(weights, batch)
        share = trust(each.detach()[:, None]).squeeze(1)
        return (share * each).sum() / share.sum()

    def look_ahead(batch):
        weights = dict(detector.named_parameters())
        grads = torch.autograd.grad(
            trusted(weights, batch), tuple(weights.values()), create_graph=True
        )
        named = zip(weights.items(), grads, strict=True)
        return {name: (w - PEEK_LR * g).detach().requires_grad_() for (name, w), g in named}

    def teach_trust(batch):
        trust_optimizer.zero_grad()
        peek = look_ahead(batch)
        seen = {}
        for station, checked in stations.items():
            loss = misfit(peek, checked).mean() / len(stations)
            loss.backward()
            seen[station] = len(stations) * loss.item()
        trust_optimizer.step()
        return seen

    def teach_detector(batch):
        detector_optimizer.zero_grad()
        loss = trusted(dict(detector.named_parameters()), batch)
        loss.backward()
        detector_optimizer.step()
        return loss.item()

    for number in range(rounds):
        batch = volunteers[number % len(volunteers)]
        seen = teach_trust(batch)
        loss = teach_detector(batch)
        if number % 3 == 0:
            told = "  ".join(f"{name} {value:.3f}" for name, value in seen.items())
            print(f"round {number:2d}  volunteers {loss:.3f}  {told}")


def main():
    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(17)
    volunteers = [clips(48, gen, wrong=0.35) for _ in range(5)]
    stations = {
        "fjord": clips(20, gen, shift=0.2),
        "bank": clips(20, gen, shift=-0.1),
        "strait": clips(20, gen, shift=0.4),
    }
    detector, trust = make_detector(), make_trust()
    teach(detector, trust, volunteers, stations)
    x, y = clips(400, gen)
    right = (detector(x).argmax(1) == y).float().mean().item()
    print(f"right on fresh clips: {right:.2%}")
    print("trust at a misfit of 0.1, 1 and 3:", trust(torch.tensor([[0.1], [1.0], [3.0]])).tolist())


if __name__ == "__main__":
    main()
