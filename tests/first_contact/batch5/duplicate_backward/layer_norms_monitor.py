# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss, self.loss, state
"""Event-driven trainer with gradient accumulation; a monitor writes down the gradient norm of each layer."""
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F


class Events:
    def __init__(self):
        self.handlers = defaultdict(list)

    def on(self, event):
        def register(fn):
            self.handlers[event].append(fn)
            return fn
        return register

    def fire(self, event, state):
        for fn in self.handlers[event]:
            fn(state)


class State:
    def __init__(self, model, optimizer, accumulate):
        self.model, self.optimizer, self.accumulate = model, optimizer, accumulate
        self.iteration, self.loss = 0, None


events = Events()
history = []


@events.on("loss")
def backward(state):
    (state.loss / state.accumulate).backward()  # expect: place


@events.on("loss")
def norms(state):
    if state.iteration % 5:
        return
    state.loss.backward()  # expect: place
    history.append({n: p.grad.norm().item() for n, p in state.model.named_parameters()})


@events.on("iteration")
def step(state):
    if (state.iteration + 1) % state.accumulate == 0:
        state.optimizer.step()
        state.optimizer.zero_grad()


def train(state, stream):
    for x, y in stream:
        state.loss = F.binary_cross_entropy_with_logits(state.model(x).squeeze(1), y)
        events.fire("loss", state)
        events.fire("iteration", state)
        state.iteration += 1


def alarms(n, size=10):
    for _ in range(n):
        x = torch.randn(size, 7)
        yield x, (x[:, 0] * x[:, 1] > 0.2).float()


if __name__ == "__main__":
    torch.manual_seed(20)
    model = nn.Sequential(nn.Linear(7, 18), nn.GELU(), nn.Linear(18, 1))
    train(State(model, torch.optim.SGD(model.parameters(), lr=0.2), accumulate=3), alarms(12))
    print(len(history), "records")
