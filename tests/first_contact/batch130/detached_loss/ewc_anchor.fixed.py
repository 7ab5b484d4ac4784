"""Sequential tasks with elastic weight consolidation on rotated toy digits."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--strength", type=float, default=1000.0)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=4)
    return parser.parse_args()


class Classifier(nn.Sequential):
    def __init__(self, inputs=16, hidden=40, classes=5):
        super().__init__(
            nn.Linear(inputs, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )


class Task:
    def __init__(self, rng, centers, count=200):
        basis, _ = np.linalg.qr(rng.normal(size=(centers.shape[1], centers.shape[1])))
        labels = rng.integers(0, len(centers), count)
        points = (centers[labels] + 0.4 * rng.normal(size=(count, centers.shape[1]))) @ basis
        self.x = torch.tensor(points, dtype=torch.float32)
        self.y = torch.tensor(labels)

    def sample(self, n=40):
        rows = torch.randint(0, len(self.x), (n,))
        return self.x[rows], self.y[rows]


class Consolidation:
    def __init__(self, strength):
        self.strength = strength
        self.anchors = []

    def register(self, model, task, draws=50):
        """Remember where the weights are and how much each of them matters for `task`."""
        importance = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
        for i in range(draws):
            model.zero_grad()
            log_p = F.log_softmax(model(task.x[i:i + 1]), dim=1)
            F.nll_loss(log_p, task.y[i:i + 1]).backward()
            for name, p in model.named_parameters():
                importance[name] += p.grad.pow(2) / draws
        model.zero_grad()
        center = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.anchors.append((center, importance))

    def cost(self, model):
        penalty = torch.zeros(())
        for center, importance in self.anchors:
            for name, value in model.named_parameters():
                drift = value - center[name]
                penalty = penalty + (importance[name] * drift.pow(2)).sum()
        return 0.5 * self.strength * penalty


@torch.no_grad()
def accuracy(model, task):
    return (model(task.x).argmax(dim=1) == task.y).float().mean().item()


def learn(model, task, keeper, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        x, y = task.sample()
        fit = F.cross_entropy(model(x), y)
        loss = fit + keeper.cost(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return fit.item(), loss.item() - fit.item()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    centers = 1.5 * rng.normal(size=(5, 16))
    tasks = [Task(rng, centers) for _ in range(args.tasks)]
    model = Classifier()
    keeper = Consolidation(args.strength)
    for number, task in enumerate(tasks):
        fit, held = learn(model, task, keeper, args)
        keeper.register(model, task)
        scores = [f"{accuracy(model, earlier):.2f}" for earlier in tasks[:number + 1]]
        print(f"task {number}: ce {fit:.3f}  ewc {held:.3f}  accuracies {scores}")


if __name__ == "__main__":
    main()
