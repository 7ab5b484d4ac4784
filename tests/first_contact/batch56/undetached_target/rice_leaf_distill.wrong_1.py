"""Rice leaf lesions: a large network goes on learning while it teaches a small one.

The phone model only has the soft answers of the server model to learn from; the server
model keeps training on the agronomist's labels in the same loop.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

def build(width, depth):
    layers, c = [], 3
    for _ in range(depth):
        layers += [nn.Conv2d(c, width, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)]
        c = width
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(4))


class LesionPatches:
    """12x12 patches; the class sets colour and period of the lesion pattern."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(4, (n,), generator=g)
        grid = torch.arange(12).float()
        stripe = torch.cos(grid[None, :] * (0.4 + 0.5 * self.y[:, None].float()))
        x = stripe[:, None, :, None] * torch.ones(1, 3, 1, 12)
        x[:, 0] += 0.4 * (self.y % 2).float()[:, None, None]
        self.x = x + 0.5 * torch.randn(x.shape, generator=g)

    def batches(self, size):
        for part in torch.randperm(len(self.y)).split(size):
            yield self.x[part], self.y[part]


class Distiller:
    def __init__(self, args):
        self.T, self.alpha = args.temperature, args.alpha
        self.teacher = build(16, 2)
        self.student = build(8, 2)
        for m in (self.teacher, self.student):
            m(torch.zeros(1, 3, 12, 12))
        self.opt_t = torch.optim.Adam(self.teacher.parameters(), lr=args.lr)
        self.opt_s = torch.optim.Adam(self.student.parameters(), lr=args.lr)

    def soft_targets(self, logits):
        return F.softmax(logits / self.T, dim=1)

    def kd_loss(self, student_logits, soft, y):
        log_q = F.log_softmax(student_logits / self.T, dim=1)
        kd = F.kl_div(log_q, soft, reduction="batchmean") * self.T ** 2
        return self.alpha * kd + (1 - self.alpha) * F.cross_entropy(student_logits, y)

    def step(self, x, y):
        teacher_logits = self.teacher(x)
        loss_t = F.cross_entropy(teacher_logits, y)
        soft = self.soft_targets(teacher_logits)
        loss_s = self.kd_loss(self.student(x), soft, y)

        self.opt_t.zero_grad()
        loss_t.backward(retain_graph=True)
        self.opt_s.zero_grad()
        loss_s.backward()
        self.opt_t.step()
        self.opt_s.step()
        return loss_t.item(), loss_s.item()


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--temperature", type=float, default=3.0)
    ap.add_argument("--alpha", type=float, default=0.7)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args(argv or [])
    torch.manual_seed(11)
    data = LesionPatches(160, seed=2)
    job = Distiller(args)
    for epoch in range(args.epochs):
        sums = torch.zeros(2)
        for x, y in data.batches(32):
            sums += torch.tensor(job.step(x, y))
        print("epoch %d teacher %.3f student %.3f" % (epoch, *(sums / 5).tolist()))


if __name__ == "__main__":
    main()
