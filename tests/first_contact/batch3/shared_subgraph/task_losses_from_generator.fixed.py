"""Multi-task regression on one trunk: each head's loss comes out of a generator."""
import math
from typing import Callable, Dict, Iterator, NamedTuple

import torch
import torch.nn as nn


class TaskLoss(NamedTuple):
    name: str
    value: torch.Tensor


class UncertaintyMixin:
    """Learned log-variances that weigh the tasks."""

    def init_uncertainty(self, names):
        self.log_var = nn.ParameterDict({n: nn.Parameter(torch.zeros(())) for n in names})

    def weigh(self, name, raw):
        return torch.exp(-self.log_var[name]) * raw + 0.5 * self.log_var[name]


class MultiTask(UncertaintyMixin, nn.Module):
    def __init__(self, tasks: Dict[str, int], width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, out) for name, out in tasks.items()})
        self.init_uncertainty(tasks)

    def losses(self, x, targets, criteria: Dict[str, Callable]) -> Iterator[TaskLoss]:
        shared = self.trunk(x)
        for name, head in self.heads.items():
            raw = criteria[name](head(shared), targets[name])
            yield TaskLoss(name, self.weigh(name, raw))


def make_batch(n=32):
    x = torch.randn(n, 8)
    return x, {
        "depth": x[:, :1].abs() + 0.1 * x[:, 1:2],
        "normal": torch.tanh(x[:, 2:5]),
        "label": (x[:, 5] > 0).long(),
    }


def main():
    torch.manual_seed(2)
    model = MultiTask({"depth": 1, "normal": 3, "label": 2})
    criteria = {"depth": nn.L1Loss(), "normal": nn.MSELoss(), "label": nn.CrossEntropyLoss()}
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 0.5 * (1 + math.cos(math.pi * i / 10)))

    for it in range(8):
        x, targets = make_batch()
        optimizer.zero_grad()
        shown = {}
        total = 0.0
        for task in model.losses(x, targets, criteria):
            total = total + task.value
            shown[task.name] = task.value.item()
        total.backward()
        optimizer.step()
        schedule.step()
        if it % 4 == 3:
            print(it, ", ".join(f"{k} {v:.3f}" for k, v in shown.items()))


if __name__ == "__main__":
    main()
