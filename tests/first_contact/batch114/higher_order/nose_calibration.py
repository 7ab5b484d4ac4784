# expect: pattern = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fast
"""Meta-learned calibration for electronic noses.

Each sensor board drifts in its own way. A shared start is learned from which a few gradient steps
on a handful of reference gases are enough. As in the "how to train your" recipe, the query error
after every one of those steps counts, with weights that move towards the last step over time.
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


@dataclass
class Settings:
    boards_per_update: int = 3
    updates: int = 6
    inner_steps: int = 3
    inner_lr: float = 0.1
    outer_lr: float = 3e-3


def make_net():
    return nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 1))


class Board:
    """A sensor board with a gain and an offset of its own."""

    def __init__(self):
        self.gain = 0.5 + torch.rand(4)
        self.offset = 0.3 * torch.randn(4)

    def sample(self, n):
        gas = torch.rand(n, 4)
        concentration = (gas * torch.tensor([1.0, 0.5, 0.2, 0.1])).sum(1, keepdim=True)
        return gas * self.gain + self.offset, concentration


def step_weights(settings, update):
    """Even at first, then more and more on the last inner step."""
    share = update / max(1, settings.updates - 1)
    even = torch.full((settings.inner_steps,), 1.0 / settings.inner_steps)
    last = torch.zeros(settings.inner_steps)
    last[-1] = 1.0
    return (1 - 0.8 * share) * even + 0.8 * share * last


def adapt_and_score(net, board, settings, weights):
    """Leaves the gradients of this board's query errors in the parameters of `net`."""
    names = [name for name, _ in net.named_parameters()]
    fast = dict(net.named_parameters())
    xs, ys = board.sample(5)
    xq, yq = board.sample(15)
    scores = []
    for k in range(settings.inner_steps):
        support = F.mse_loss(functional_call(net, fast, (xs,)), ys)
        grads = torch.autograd.grad(support, list(fast.values()), create_graph=True)
        fast = {n: w - settings.inner_lr * g for n, w, g in zip(names, fast.values(), grads)}  # expect: place
        query = F.mse_loss(functional_call(net, fast, (xq,)), yq)
        (weights[k] * query / settings.boards_per_update).backward()  # expect: place
        scores.append(query.item())
    return scores


def main():
    torch.manual_seed(23)
    settings = Settings()
    net = make_net()
    outer = torch.optim.Adam(net.parameters(), lr=settings.outer_lr)
    for update in range(settings.updates):
        outer.zero_grad()
        weights = step_weights(settings, update)
        rows = [
            adapt_and_score(net, Board(), settings, weights)
            for _ in range(settings.boards_per_update)
        ]
        outer.step()
        means = torch.tensor(rows).mean(0)
        print(update, " -> ".join(f"{m:.4f}" for m in means))


if __name__ == "__main__":
    main()
