# expect: pattern = none
# Micro-batches share one step; the total is a sum within the step and starts anew behind it.
import torch
from torch import nn

ACCUMULATE = 3


class Accumulator:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.pending, self.count = 0.0, 0

    def add(self, loss):
        self.pending = self.pending + loss / ACCUMULATE
        self.count += 1
        if self.count == ACCUMULATE:
            self.flush()

    def flush(self):
        self.optimizer.zero_grad()
        self.pending.backward()
        self.optimizer.step()
        print(f"step with {self.count} micro-batches: {self.pending.item():.4f}")
        self.pending, self.count = 0.0, 0


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
accumulator = Accumulator(model)
for _ in range(9):
    x = torch.randn(4, 5)
    accumulator.add((model(x) - x.mean(1, keepdim=True)).pow(2).mean())
