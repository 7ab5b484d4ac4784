# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = w
"""Federated load forecasting with smart meters.

Every household runs a few plain SGD steps on a private copy of the weights; the
utility treats the averaged displacement as a gradient for Adam (FedAdam).
"""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(314)

HOURS, HIDDEN, HOMES, ROUNDS = 24, 20, 12, 20


def household(seed, days=30):
    """Private data: yesterday's 24 readings -> the next day's peak."""
    gen = torch.Generator().manual_seed(seed)
    hours = torch.arange(HOURS) / HOURS * 2 * math.pi
    phase = torch.rand(1, generator=gen) * 2
    level = 0.5 + torch.rand(1, generator=gen)
    mood = torch.rand(days, 1, generator=gen)
    curve = level * (1 + mood * torch.sin(hours - phase))
    curve = curve + 0.05 * torch.randn(days, HOURS, generator=gen)
    peak = curve.max(dim=1).values + 0.2 * mood[:, 0]
    return curve, peak


def init_weights():
    return {
        "enc.w": torch.randn(HIDDEN, HOURS) / math.sqrt(HOURS),
        "enc.b": torch.zeros(HIDDEN),
        "out.w": torch.randn(1, HIDDEN) / math.sqrt(HIDDEN),
        "out.b": torch.zeros(1),
    }


def forecast(w, readings):
    h = torch.tanh(F.linear(readings, w["enc.w"], w["enc.b"]))
    return F.linear(h, w["out.w"], w["out.b"]).squeeze(1)


def local_training(server, data, steps=4, lr=0.05):
    """What runs in the meter. Returns the trained copy and the last loss."""
    readings, peak = data
    w = {k: v.detach().clone().requires_grad_() for k, v in server.items()}
    for _ in range(steps):
        loss = F.mse_loss(forecast(w, readings), peak)
        loss.backward()
        for k in w:
            if w[k].grad is not None:
                w[k] = w[k] - lr * w[k].grad
    return {k: v.detach() for k, v in w.items()}, loss.item()


def main():
    server = {k: torch.nn.Parameter(v) for k, v in init_weights().items()}
    utility = torch.optim.Adam(server.values(), lr=0.02)
    homes = [household(100 + i) for i in range(HOMES)]

    for rnd in range(ROUNDS):
        invited = torch.randperm(HOMES)[:5].tolist()
        replies, losses = [], []
        for h in invited:
            trained, last = local_training(server, homes[h])
            replies.append(trained)
            losses.append(last)

        utility.zero_grad()
        for k, p in server.items():
            mean = torch.stack([r[k] for r in replies]).mean(0)
            p.grad = p.detach() - mean
        utility.step()
        if rnd % 4 == 0 or rnd == ROUNDS - 1:
            with torch.no_grad():
                everyone = sum(F.mse_loss(forecast(server, x), y) for x, y in homes) / HOMES
            print(f"round {rnd:2d}  in the meters {sum(losses) / len(losses):.4f}  all homes {everyone:.4f}")


main()
