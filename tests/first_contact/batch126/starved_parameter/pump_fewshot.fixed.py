"""Few-shot fitting of pump curves: head over flow from five measured points."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

torch.manual_seed(11)
HIDDEN = 24


class CurveNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 1)

    def forward(self, flow):
        return self.head(self.body(flow))


class PumpTasks:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def curve(self, shutoff, drop, n):
        flow = torch.rand(n, 1, generator=self.g) * 2 - 1
        return flow, shutoff - drop * (flow + 1) ** 2 + 0.02 * torch.randn(n, 1, generator=self.g)

    def sample(self, count):
        tasks = []
        for _ in range(count):
            shutoff, drop = torch.rand(2, generator=self.g) + torch.tensor([1.0, 0.2])
            tasks.append((self.curve(shutoff, drop, 5), self.curve(shutoff, drop, 15)))
        return tasks


class FewShotTrainer:
    def __init__(self, net, inner_lr=0.1, inner_steps=2, outer_lr=3e-3):
        self.net = net
        self.inner_lr, self.inner_steps = inner_lr, inner_steps
        self.outer = torch.optim.Adam(self.net.parameters(), lr=outer_lr)

    def adapt(self, flow, head):
        fast = dict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.net, fast, (flow,)), head)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - self.inner_lr * g for (name, p), g in zip(fast.items(), grads)}
        return fast

    def meta_step(self, tasks):
        self.outer.zero_grad()
        total = 0.0
        for support, (flow, head) in tasks:
            fast = self.adapt(*support)
            total = total + F.mse_loss(functional_call(self.net, fast, (flow,)), head)
        total = total / len(tasks)
        total.backward()
        self.outer.step()
        return total.item()


def main():
    tasks = PumpTasks(seed=3)
    trainer = FewShotTrainer(CurveNet(HIDDEN))
    for iteration in range(40):
        loss = trainer.meta_step(tasks.sample(4))
        if iteration % 10 == 0:
            print(f"{iteration:3d}  query {loss:.4f}")


main()
