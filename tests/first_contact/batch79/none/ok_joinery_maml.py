# expect: pattern = none
# expect: raises = nothing
"""Learn to learn the fit of wood joints: a new kind of timber from four trial cuts (MAML).

Everything of the inner loop is functional: the adapted weights are part of the outer graph, and
the step sizes of the layers are learnt along with the start.
"""
from dataclasses import dataclass

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F


@dataclass
class Plan:
    inner_steps: int = 2
    tasks: int = 4
    shots: int = 4
    queries: int = 12
    outer_steps: int = 60
    lr: float = 3e-3


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(),
                                 nn.Linear(20, 1))
        names = [name.replace(".", "_") for name, _ in self.net.named_parameters()]
        self.rates = nn.ParameterDict({name: nn.Parameter(torch.tensor(0.05)) for name in names})

    def predict(self, weights, x):
        return functional_call(self.net, weights, (x,)).squeeze(1)

    def adapt(self, x, y, steps):
        weights = dict(self.net.named_parameters())
        for _ in range(steps):
            loss = F.mse_loss(self.predict(weights, x), y)
            grads = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
            weights = {
                name: w - self.rates[name.replace(".", "_")] * g
                for (name, w), g in zip(weights.items(), grads)
            }
        return weights


def timber(plan, generator):
    swelling, grain = torch.rand(2, generator=generator) * 2 - 1
    x = torch.rand(plan.shots + plan.queries, 3, generator=generator) * 2 - 1
    gap = swelling * x[:, 0] + torch.sin(2 * x[:, 1] + grain) * x[:, 2]
    return (x[: plan.shots], gap[: plan.shots]), (x[plan.shots :], gap[plan.shots :])


def main():
    torch.manual_seed(44)
    plan = Plan()
    learner = Learner()
    optimizer = torch.optim.Adam(learner.parameters(), lr=plan.lr)
    generator = torch.Generator().manual_seed(1)
    history = []
    for step in range(plan.outer_steps):
        optimizer.zero_grad()
        outer = 0.0
        for _ in range(plan.tasks):
            support, (x, y) = timber(plan, generator)
            weights = learner.adapt(*support, plan.inner_steps)
            outer = outer + F.mse_loss(learner.predict(weights, x), y) / plan.tasks
        outer.backward()
        optimizer.step()
        history.append(outer.item())
        if step % 20 == 19:
            print(f"{step + 1}: {sum(history[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
