# expect: pattern = none
"""Rust on bridge bolts, few labels: a mean teacher (moving average of the student),
a ring buffer of embeddings as negatives, and a critic whose gradient is penalised."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


class Inspector(nn.Module):
    def __init__(self, n_in=14, dim=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 24), nn.Tanh(), nn.Linear(24, dim))
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        e = self.body(x)
        return self.head(e), F.normalize(e, dim=1)


class Ring:
    def __init__(self, size, dim):
        self.rows = F.normalize(torch.randn(size, dim), dim=1)
        self.at = 0

    def push(self, e):
        n = len(e)
        where = (self.at + torch.arange(n)) % len(self.rows)
        self.rows = self.rows.clone()
        self.rows[where] = e.detach()
        self.at = (self.at + n) % len(self.rows)


@torch.no_grad()
def follow(teacher, student, keep):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(keep).add_(s, alpha=1 - keep)


def smoothness(critic, e):
    e = e.detach().requires_grad_(True)
    slope, = torch.autograd.grad(critic(e).sum(), e, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


def main():
    torch.manual_seed(29)
    g = torch.Generator().manual_seed(28)
    student = Inspector()
    teacher = copy.deepcopy(student).requires_grad_(False)
    critic = nn.Sequential(nn.Linear(8, 16), nn.Softplus(), nn.Linear(16, 1))
    ring = Ring(64, 8)
    opt = torch.optim.Adam(student.parameters(), lr=4e-3)
    c_opt = torch.optim.Adam(critic.parameters(), lr=4e-3)
    rule = torch.randn(14, generator=g)
    for it in range(24):
        x = torch.randn(40, 14, generator=g)
        rusty = ((x @ rule) > 0).long()
        logits, e = student(x + 0.1 * torch.randn_like(x))
        goal, te = teacher(x)

        wide = critic(e.detach()).mean() - critic(ring.rows).mean() + smoothness(critic, e)
        c_opt.zero_grad()
        wide.backward()
        c_opt.step()

        pair = torch.cat([(e * te).sum(1, keepdim=True), e @ ring.rows.t()], dim=1) / 0.3
        cost = F.cross_entropy(logits[:8], rusty[:8])
        cost = cost + F.mse_loss(logits.softmax(1), goal.softmax(1))
        cost = cost + 0.1 * F.cross_entropy(pair, torch.zeros(40, dtype=torch.long))
        cost = cost - 0.05 * critic(e).mean()
        opt.zero_grad()
        cost.backward()
        opt.step()
        follow(teacher, student, 0.95)
        ring.push(te)
        if it % 8 == 7:
            hit = (teacher(x)[0].argmax(1) == rusty).float().mean().item()
            print(f"{it + 1}: cost {cost.item():.4f}  critic {wide.item():+.3f}  teacher right {hit:.2f}")


if __name__ == "__main__":
    main()
