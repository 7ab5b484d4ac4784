# expect: pattern = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fast
"""Few-shot load forecasting for new substations: MAML with the multi-step loss.

Each task is a substation with its own daily load curve. The learner adapts on a handful of hours
(support) and is judged on others (query) after every inner step, later steps weighing more.
"""
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

config = {
    "hidden": 32,
    "inner_lr": 0.05,
    "inner_steps": 3,
    "meta_lr": 3e-3,
    "tasks_per_batch": 4,
    "iterations": 60,
    "support": 8,
    "query": 16,
    "step_weights": [0.15, 0.25, 0.6],
}


class SubstationTasks:
    """Load = base + morning and evening peaks whose height and hour vary from task to task."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, n_support, n_query):
        peak = self.rng.uniform([6.5, 17.0], [9.0, 21.0])
        height = self.rng.uniform(0.5, 1.8, size=2)
        base = self.rng.uniform(-0.3, 0.3)
        hour = self.rng.uniform(0, 24, size=n_support + n_query)
        load = base + (height * np.exp(-0.5 * ((hour[:, None] - peak) / 2.2) ** 2)).sum(1)
        load = load + self.rng.normal(scale=0.03, size=load.shape)
        angle = 2 * np.pi * hour / 24
        x = np.stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)], axis=1)
        x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(load[:, None], dtype=torch.float32)
        return (x[:n_support], y[:n_support]), (x[n_support:], y[n_support:])


class LoadNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(4, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, params=None):
        p = params if params is not None else OrderedDict(self.named_parameters())
        x = torch.tanh(F.linear(x, p["fc1.weight"], p["fc1.bias"]))
        x = torch.tanh(F.linear(x, p["fc2.weight"], p["fc2.bias"]))
        return F.linear(x, p["head.weight"], p["head.bias"])


class MetaLearner:
    def __init__(self, cfg, tasks):
        self.cfg, self.tasks = cfg, tasks
        self.net = LoadNet(cfg["hidden"])
        self.meta_opt = torch.optim.Adam(self.net.parameters(), lr=cfg["meta_lr"])

    def inner_update(self, fast, x, y):
        loss = F.mse_loss(self.net(x, fast), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        return OrderedDict((name, w - self.cfg["inner_lr"] * g)  # expect: place
                           for (name, w), g in zip(fast.items(), grads))

    def task_step(self):
        (xs, ys), (xq, yq) = self.tasks.sample(self.cfg["support"], self.cfg["query"])
        fast = OrderedDict(self.net.named_parameters())
        outer = 0.0
        for step in range(self.cfg["inner_steps"]):
            fast = self.inner_update(fast, xs, ys)  # expect: place
            query_loss = F.mse_loss(self.net(xq, fast), yq)
            weighted = self.cfg["step_weights"][step] * query_loss / self.cfg["tasks_per_batch"]
            outer = outer + weighted
        outer.backward()
        return query_loss.item()

    def iteration(self):
        self.meta_opt.zero_grad()
        after = [self.task_step() for _ in range(self.cfg["tasks_per_batch"])]
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.meta_opt.step()
        return float(np.mean(after))


def main():
    torch.manual_seed(0)
    learner = MetaLearner(config, SubstationTasks(seed=0))
    history = []
    for it in range(config["iterations"]):
        history.append(learner.iteration())
        if (it + 1) % 20 == 0:
            print(f"iter {it + 1:3d}  query mse after adaptation {np.mean(history[-20:]):.4f}")


if __name__ == "__main__":
    main()
