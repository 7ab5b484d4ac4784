"""Two regression heads on one trunk; conflicting gradients are projected (PCGrad)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.price = nn.Linear(16, 1)
        self.demand = nn.Linear(16, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.demand(h).squeeze(1)


class PCGrad:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.params = [p for g in optimizer.param_groups for p in g["params"]]
        self.conflicts = []

    def _clear(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()

    def _collect(self, loss, last):
        self._clear()
        loss.backward(retain_graph=not last)
        return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in self.params]

    @staticmethod
    def _dot(a, b):
        return sum((x * y).sum() for x, y in zip(a, b))

    def step(self, losses):
        grads = [self._collect(loss, i == len(losses) - 1) for i, loss in enumerate(losses)]
        projected = [[g.clone() for g in task] for task in grads]
        for i, task in enumerate(projected):
            for j, other in enumerate(grads):
                if i == j:
                    continue
                dot = self._dot(task, other)
                if dot < 0:
                    scale = dot / self._dot(other, other).clamp_min(1e-12)
                    for g, o in zip(task, other):
                        g -= scale * o
                self.conflicts.append(dot < 0)
        for p, *parts in zip(self.params, *projected):
            p.grad = sum(parts)
        self.optimizer.step()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = TwoHeads()
    solver = PCGrad(torch.optim.Adam(model.parameters(), lr=1e-2))
    w1, w2 = torch.randn(6, generator=gen), torch.randn(6, generator=gen)
    for step in range(40):
        x = torch.randn(64, 6, generator=gen)
        price, demand = model(x)
        losses = [F.mse_loss(price, torch.tanh(x @ w1)), F.mse_loss(demand, -torch.sin(x @ w2))]
        solver.step(losses)
        if step % 10 == 0:
            share = torch.stack(solver.conflicts).float().mean().item()
            print(f"step {step}: price {losses[0].item():.4f} demand {losses[1].item():.4f} conflicts {share:.2f}")


main()
