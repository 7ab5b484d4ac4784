# expect: pattern = none
"""Caries risk with differential privacy: each patient's gradient is clipped, summed, noised. One forward a batch."""
import torch
from torch import nn

torch.manual_seed(99)


class DPSGD:
    def __init__(self, params, lr, clip, noise):
        self.params = list(params)
        self.lr, self.clip, self.noise = lr, clip, noise
        self.summed = [torch.zeros_like(p) for p in self.params]
        self.n = 0

    def microbatch(self, loss, last):
        loss.backward(retain_graph=not last)
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.params))
        factor = (self.clip / (norm + 1e-6)).clamp(max=1.0)
        for acc, p in zip(self.summed, self.params):
            acc += factor * p.grad
            p.grad = None
        self.n += 1

    @torch.no_grad()
    def step(self):
        for acc, p in zip(self.summed, self.params):
            acc += self.noise * self.clip * torch.randn_like(acc)
            p -= self.lr * acc / self.n
            acc.zero_()
        self.n = 0


def patients(n):
    x = torch.randn(n, 7)
    risk = torch.sigmoid(1.5 * x[:, 0] - x[:, 1] + 0.5 * x[:, 2] * x[:, 3])
    return x, torch.bernoulli(risk)


net = nn.Sequential(nn.Linear(7, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = DPSGD(net.parameters(), lr=0.8, clip=1.0, noise=0.1)
criterion = nn.BCEWithLogitsLoss(reduction="none")
total = 0.0

for step in range(20):
    x, y = patients(16)
    losses = criterion(net(x).squeeze(1), y)
    for i in range(len(losses)):
        optimizer.microbatch(losses[i], last=i == len(losses) - 1)
    optimizer.step()
    total += losses.mean().detach()
    if step % 5 == 4:
        print(step, f"{(total / 5).item():.4f}")
        total = 0.0
