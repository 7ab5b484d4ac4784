"""Two targets from the sensors of a wind turbine: power output and bearing temperature.
Their gradients on the shared trunk disagree at times, so conflicting parts are projected
out before the step (gradient surgery)."""
from typing import List

import torch
from torch import nn
from torch.optim import SGD


class SharedTrunk(nn.Module):
    def __init__(self, n_sensors=12, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_sensors, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.power = nn.Linear(width, 1)
        self.bearing = nn.Linear(width, 1)

    def forward(self, x):
        z = self.trunk(x)
        return self.power(z).squeeze(-1), self.bearing(z).squeeze(-1)


class GradientSurgery:
    def __init__(self, optimizer, params):
        self.optimizer = optimizer
        self.params = list(params)
        for p in self.params:
            p.grad = torch.zeros_like(p)

    def zero(self):
        # None would mean a new allocation for every task
        self.optimizer.zero_grad(set_to_none=False)

    def backward(self, losses: List[torch.Tensor]):
        task_grads = []
        for i, loss in enumerate(losses):
            self.zero()
            loss.backward(retain_graph=i + 1 < len(losses))
            task_grads.append([p.grad.clone() for p in self.params])
        merged = self._project(task_grads)
        for p, g in zip(self.params, merged):
            p.grad.copy_(g)

    def _project(self, task_grads):
        flat = [torch.cat([g.reshape(-1) for g in grads]) for grads in task_grads]
        projected = []
        for i, g_i in enumerate(flat):
            g = g_i.clone()
            for j, g_j in enumerate(flat):
                if i == j:
                    continue
                dot = torch.dot(g, g_j)
                if dot < 0:
                    g = g - dot / g_j.pow(2).sum() * g_j
            projected.append(g)
        total = torch.stack(projected).mean(0)
        out, at = [], 0
        for p in self.params:
            out.append(total[at : at + p.numel()].view_as(p))
            at += p.numel()
        return out


def main():
    torch.manual_seed(77)
    x = torch.randn(256, 12)
    wind = x[:, :4].sum(1)
    power = torch.tanh(wind)
    bearing = -wind + 0.5 * x[:, 4] * x[:, 5]

    model = SharedTrunk()
    optimizer = SGD(model.parameters(), lr=0.05)
    surgery = GradientSurgery(optimizer, model.parameters())
    mse = nn.MSELoss()
    for step in range(60):
        rows = torch.randint(0, 256, (64,))
        p, b = model(x[rows])
        losses = [mse(p, power[rows]), mse(b, bearing[rows])]
        surgery.backward(losses)
        optimizer.step()
        if step % 15 == 0:
            print(f"{step:3d} power {losses[0].item():.4f} bearing {losses[1].item():.4f}")


if __name__ == "__main__":
    main()
