"""Self-distillation on lichen close-ups: the student matches a slowly moving teacher."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, inputs, prototypes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(inplace=True), nn.Linear(32, 16))
        self.last = nn.Linear(16, prototypes, bias=False)

    def forward(self, x):
        return self.last(F.normalize(self.body(x), dim=-1))


class Distiller:
    def __init__(self, inputs, prototypes, student_temp=0.2, teacher_temp=0.1):
        self.student = Head(inputs, prototypes)
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.center = torch.zeros(prototypes)
        self.student_temp = student_temp
        self.teacher_temp = teacher_temp
        self.running = torch.zeros(())
        self.curve = []

    def goals(self, views):
        raw = [self.teacher(v) for v in views]
        sharp = [F.softmax((r - self.center) / self.teacher_temp, dim=-1) for r in raw]
        self.center *= 0.9
        self.center += 0.1 * torch.cat(raw).mean(0)
        return sharp

    def loss(self, views, small_views):
        goals = self.goals(views)
        total, pairs = 0.0, 0
        for i, view in enumerate(views + small_views):
            log_p = F.log_softmax(self.student(view) / self.student_temp, dim=-1)
            for j, goal in enumerate(goals):
                if i == j:
                    continue
                total = total - (goal * log_p).sum(-1).mean()
                pairs += 1
        total = total / pairs
        self.watch(total)
        return total

    @torch.no_grad()
    def watch(self, value):
        self.running = 0.9 * self.running + 0.1 * value
        self.curve.append(self.running)

    def follow(self, keep=0.95):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.data.mul_(keep).add_(fast.data, alpha=1 - keep)


def close_ups(n, pixels):
    kinds = torch.randn(5, pixels)
    return kinds[torch.randint(5, (n,))] + 0.2 * torch.randn(n, pixels)


def look(batch, share):
    """Hide some of the pixels."""
    return batch * (torch.rand_like(batch) < share).float()


def main():
    torch.manual_seed(19)
    data = close_ups(120, 20)
    d = Distiller(20, 8)
    optimizer = torch.optim.AdamW(d.student.parameters(), lr=3e-3)
    for epoch in range(3):
        for batch in data.split(30):
            views = [look(batch, 0.8), look(batch, 0.8)]
            small = [look(batch, 0.4) for _ in range(2)]
            loss = d.loss(views, small)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            d.follow()
        print(epoch, round(d.running.item(), 4), d.center.abs().max().item())
    print("curve:", [round(v, 3) for v in torch.stack(d.curve).tolist()])


if __name__ == "__main__":
    main()
