# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = grad, p.grad, last_grad, state, state["last_grad"]
"""Predict how sour a crock of vegetables gets, with a variance-reducing optimizer."""
import torch
from torch import nn
from torch.nn import functional as F

from crocks import loader
from variance import Correcting


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(7, 24), nn.Softplus(), nn.Linear(24, 24), nn.Softplus(),
                         nn.Linear(24, 1))


def fit(model, optimizer, epochs):
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader(seed=epoch):
            optimizer.zero_grad(set_to_none=False)  # expect: place
            loss = F.huber_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        yield epoch, total


def main():
    model = build(seed=12)
    optimizer = Correcting(model.parameters(), lr=0.01, gamma=0.4)
    for epoch, total in fit(model, optimizer, epochs=6):
        print(f"epoch {epoch}: {total:.3f}")


if __name__ == "__main__":
    main()
