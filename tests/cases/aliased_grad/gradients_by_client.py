# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = by_client, held
"""Hospitals share a model but no patients: their gradients are compared, and the odd one left out."""
import torch
from torch import nn

HOSPITALS = ("north", "south", "west")


def gradients(model):
    return tuple(p.grad for p in model.parameters())  # expect: place


def local(model, optimizer, batch):
    optimizer.zero_grad(set_to_none=False)
    x, y = batch
    nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y).backward()
    return gradients(model)  # expect: place


def distance(a, b):
    return sum((x - y).pow(2).sum() for x, y in zip(a, b)).item()


def agreed(by_client):
    mean = [torch.stack(parts).mean(0) for parts in zip(*by_client.values())]
    odd = max(by_client, key=lambda name: distance(by_client[name], mean))
    kept = [held for name, held in by_client.items() if name != odd]
    return [torch.stack(parts).mean(0) for parts in zip(*kept)]


def patients(shift):
    x = torch.randn(24, 5) + shift
    return x, (x.sum(1) > shift).float()


if __name__ == "__main__":
    torch.manual_seed(17)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for day in range(8):
        by_client = {  # expect: place
            name: local(model, optimizer, patients(0.5 * at)) for at, name in enumerate(HOSPITALS)  # expect: place
        }
        for p, g in zip(model.parameters(), agreed(by_client)):
            p.grad = g
        optimizer.step()
    print(round(distance(*list(by_client.values())[:2]), 5))
