"""MAML for sine regression (my own re-implementation, 5-shot)."""
import copy
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

# hyper-parameters
META_LR = 1e-2
INNER_LR = 0.02
INNER_STEPS = 3
N_TASKS = 4
K_SHOT = 5
K_QUERY = 10
META_ITERS = 15


class SineTask:
    def __init__(self):
        self.amplitude = random.uniform(0.5, 3.0)
        self.phase = random.uniform(0, math.pi)

    def sample(self, k):
        x = torch.empty(k, 1).uniform_(-5, 5)
        return x, self.amplitude * torch.sin(x + self.phase)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 40)
        self.fc2 = nn.Linear(40, 40)
        self.fc3 = nn.Linear(40, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def inner_loop(model, x, y):
    """Adapt a copy of the meta model to one task."""
    fast = copy.deepcopy(model)
    inner_opt = torch.optim.SGD(fast.parameters(), lr=INNER_LR)
    for _ in range(INNER_STEPS):
        loss = F.mse_loss(fast(x), y)
        inner_opt.zero_grad()
        loss.backward()
        inner_opt.step()
    return fast


def evaluate(model, n_tasks=5):
    losses = []
    for _ in range(n_tasks):
        task = SineTask()
        fast = inner_loop(model, *task.sample(K_SHOT))
        xq, yq = task.sample(50)
        with torch.no_grad():
            losses.append(F.mse_loss(fast(xq), yq).item())
    return sum(losses) / len(losses)


def main():
    random.seed(0)
    torch.manual_seed(0)
    model = Net()
    meta_opt = torch.optim.Adam(model.parameters(), lr=META_LR)
    print("post-adaptation loss before training: %.3f" % evaluate(model))

    for it in range(META_ITERS):
        tasks = [SineTask() for _ in range(N_TASKS)]
        meta_opt.zero_grad()
        meta_loss = 0.0
        learners = []
        for task in tasks:
            xs, ys = task.sample(K_SHOT)
            xq, yq = task.sample(K_QUERY)
            fast = inner_loop(model, xs, ys)
            query_loss = F.mse_loss(fast(xq), yq)
            meta_loss = meta_loss + query_loss / N_TASKS
            learners.append(fast)
        meta_loss.backward()
        for p, *adapted in zip(model.parameters(), *(f.parameters() for f in learners)):
            p.grad = sum(w.grad for w in adapted)
        meta_opt.step()

        if (it + 1) % 5 == 0:
            print("iter %3d  query loss %.3f" % (it + 1, meta_loss.item()))

    print("post-adaptation loss after training: %.3f" % evaluate(model))


if __name__ == "__main__":
    main()
