import torch
from torch import nn
from collections import deque


class TBPTT:
    """Runs a step function over a sequence; a backward every `every` steps through `depth` steps."""

    def __init__(self, cell, head, optimizer, every=2, depth=4):
        self.cell, self.head, self.optimizer = cell, head, optimizer
        self.every, self.depth = every, depth
        self.retained = deque(maxlen=depth)

    def train(self, xs, ys, state):
        for t, (x, y) in enumerate(zip(xs, ys), start=1):
            inner = state.detach().requires_grad_()
            new_state = self.cell(x, inner)
            self.retained.append((inner, new_state))
            if t % self.every == 0:
                self.update(y)
            state = new_state
        return state.detach()

    def update(self, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.head(self.retained[-1][1]), y)
        loss.backward()
        segments = list(self.retained)
        for (inner, _), (_, older) in zip(reversed(segments[1:]), reversed(segments[:-1])):
            older.backward(inner.grad)
            inner.grad = None
        self.optimizer.step()
        self.retained.clear()


torch.manual_seed(14)
cell, head = nn.RNNCell(3, 9), nn.Linear(9, 2)
runner = TBPTT(cell, head, torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.02))
xs = torch.randn(12, 5, 3)
runner.train(xs, xs[..., :2].cumsum(0).tanh(), torch.zeros(5, 9))
