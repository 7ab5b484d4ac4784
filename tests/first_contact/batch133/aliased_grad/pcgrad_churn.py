# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = grads, task_grads, p.grad, g
"""Multi-task churn model with gradient surgery (PCGrad) on the shared trunk."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TASKS = ("churn", "spend", "tickets")


def make_customers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)).astype(np.float32)
    engaged = x[:, :4].sum(axis=1) / 2
    angry = np.tanh(x[:, 4] * x[:, 5] - x[:, 0])
    churn = (rng.random(n) < 1 / (1 + np.exp(engaged - 2 * angry))).astype(np.float32)
    spend = (0.8 * engaged + 0.3 * x[:, 6] + 0.2 * rng.normal(size=n)).astype(np.float32)
    tickets = rng.poisson(np.exp(0.6 * angry)).astype(np.float32)
    return {"x": x, "churn": churn, "spend": spend, "tickets": tickets}


def loader(data, batch_size, generator):
    n = len(data["x"])
    for idx in torch.randperm(n, generator=generator).split(batch_size):
        yield {k: torch.from_numpy(v[idx.numpy()]) for k, v in data.items()}


class MultiTaskNet(nn.Module):
    def __init__(self, n_in=12, width=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(n_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()
        )
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, x):
        z = self.trunk(x)
        return {task: head(z).squeeze(-1) for task, head in self.heads.items()}


def task_losses(out, batch):
    return {
        "churn": F.binary_cross_entropy_with_logits(out["churn"], batch["churn"]),
        "spend": F.mse_loss(out["spend"], batch["spend"]),
        "tickets": F.poisson_nll_loss(out["tickets"], batch["tickets"]),
    }


class PCGrad:
    """Wraps an optimizer; projects away the conflicting part of the tasks' gradients."""

    def __init__(self, optimizer, shared, seed=0):
        self.optimizer = optimizer
        self.shared = list(shared)
        self.rng = random.Random(seed)

    def _zero(self):
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.zero_()  # expect: place

    def _collect(self, losses):
        task_grads, head_grads = [], {}
        for loss in losses:
            self._zero()  # expect: place
            loss.backward(retain_graph=True)
            task_grads.append([p.grad for p in self.shared])  # expect: place
            for group in self.optimizer.param_groups[1:]:
                for p in group["params"]:
                    if p.grad is not None:
                        head_grads[p] = head_grads.get(p, 0.0) + p.grad
        return task_grads, head_grads

    def _project(self, task_grads):
        merged = [torch.zeros_like(p) for p in self.shared]
        for i, own in enumerate(task_grads):
            others = [j for j in range(len(task_grads)) if j != i]
            self.rng.shuffle(others)
            g = [part.clone() for part in own]
            for j in others:
                dot = sum((a * b).sum() for a, b in zip(g, task_grads[j]))
                if dot < 0:
                    norm = sum(b.square().sum() for b in task_grads[j]) + 1e-12
                    g = [a - dot / norm * b for a, b in zip(g, task_grads[j])]
            merged = [m + a for m, a in zip(merged, g)]
        return merged

    def step(self, losses):
        grads, head_grads = self._collect(list(losses))
        for p, g in zip(self.shared, self._project(grads)):
            p.grad = g
        for p, g in head_grads.items():
            p.grad = g
        self.optimizer.step()


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        batch = {k: torch.from_numpy(v) for k, v in data.items()}
        losses = task_losses(model(batch["x"]), batch)
    model.train()
    return "  ".join(f"{task} {loss.item():.3f}" for task, loss in losses.items())


def main():
    torch.manual_seed(4)
    train, valid = make_customers(320, seed=40), make_customers(160, seed=41)
    model = MultiTaskNet()
    optimizer = torch.optim.Adam(
        [
            {"params": model.trunk.parameters(), "lr": 3e-3},
            {"params": model.heads.parameters(), "lr": 1e-2},
        ]
    )
    surgeon = PCGrad(optimizer, model.trunk.parameters(), seed=4)
    generator = torch.Generator().manual_seed(42)
    print(f"start    {evaluate(model, valid)}")
    for epoch in range(4):
        for batch in loader(train, 64, generator):
            surgeon.step(task_losses(model(batch["x"]), batch).values())
        print(f"epoch {epoch + 1}  {evaluate(model, valid)}")


if __name__ == "__main__":
    main()
