"""Boxwood or grenadilla, and how old? Historic flutes from their tap tones: one body, two heads.

Each task's gradient on the body is scaled to the same length before the step.
"""
import torch
from torch import nn
import torch.nn.functional as F


class FluteNet(nn.Module):
    def __init__(self, bands=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(bands, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.wood = nn.Linear(16, 2)
        self.age = nn.Linear(16, 1)

    def forward(self, tones):
        h = self.body(tones)
        return self.wood(h), self.age(h).squeeze(1)


def workshop(n, seed):
    g = torch.Generator().manual_seed(seed)
    f = torch.linspace(0, 1, 24)
    wood = torch.randint(2, (n,), generator=g)
    age = torch.rand(n, generator=g)
    peak = 0.3 + 0.25 * wood.float() - 0.1 * age
    tones = torch.exp(-((f - peak[:, None]) / (0.08 + 0.08 * age[:, None])) ** 2)
    doubtful = torch.rand(n, generator=g) < 0.1  # attributed by the stamp alone
    wood = torch.where(doubtful, 1 - wood, wood)
    return tones + 0.1 * torch.randn(n, 24, generator=g), wood, age


def take_gradients(params):
    taken = [p.grad.clone() for p in params]
    for p in params:
        p.grad = None
    return taken


def balanced_step(net, opt, tones, wood, age):
    opt.zero_grad()
    body = list(net.body.parameters())
    wood_logits, age_guess = net(tones)
    losses = [F.cross_entropy(wood_logits, wood), F.mse_loss(age_guess, age)]
    by_task = []
    for number, loss in enumerate(losses):
        loss.backward(retain_graph=number + 1 < len(losses))
        by_task.append(take_gradients(body))
    lengths = [torch.sqrt(sum(g.pow(2).sum() for g in grads)) for grads in by_task]
    mean = sum(lengths) / len(lengths)
    for i, p in enumerate(body):
        p.grad = sum(grads[i] * (mean / (length + 1e-8)).clamp(max=4.0) for grads, length in zip(by_task, lengths))
    opt.step()
    return [loss.item() for loss in losses]


def report(net, tones, wood, age):
    with torch.no_grad():
        wood_logits, age_guess = net(tones)
    return (wood_logits.argmax(1) == wood).float().mean().item(), (age_guess - age).abs().mean().item()


if __name__ == "__main__":
    torch.manual_seed(19)
    net = FluteNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    flutes, held = workshop(400, 1), workshop(200, 2)
    for epoch in range(6):
        for rows in torch.randperm(400).split(40):
            last = balanced_step(net, opt, *(column[rows] for column in flutes))
        right, years = report(net, *held)
        print(f"{epoch}: losses {last[0]:.3f} {last[1]:.4f}, wood {right:.2f}, age error {years:.3f}")
