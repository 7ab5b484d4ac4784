# expect: pattern = none
"""Self-supervised features for satellite cloud patches: student, slowly moving teacher, and a queue
of the teacher's embeddings as negatives. Everything that looks like an old graph here is plain data."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True),
        )
        self.proj = nn.Linear(16, dim)

    def forward(self, x):
        return F.normalize(self.proj(self.conv(x).mean((2, 3))), dim=1)


class MovingTeacher(nn.Module):
    def __init__(self, student, momentum=0.99, slots=128):
        super().__init__()
        self.net = copy.deepcopy(student).requires_grad_(False)
        self.momentum = momentum
        self.register_buffer("queue", F.normalize(torch.randn(slots, 16), dim=1))
        self.cursor = 0

    @torch.no_grad()
    def follow(self, student):
        for mine, theirs in zip(self.net.parameters(), student.parameters()):
            mine.lerp_(theirs, 1 - self.momentum)

    def forward(self, x):
        return self.net(x)

    def enqueue(self, keys):
        rows = torch.arange(self.cursor, self.cursor + len(keys)) % len(self.queue)
        self.queue[rows] = keys
        self.cursor = int(rows[-1]) + 1


def augment(x):
    return x.flip(-1) + 0.1 * torch.randn_like(x)


def contrast(query, key, queue, temperature):
    positive = (query * key).sum(1, keepdim=True)
    logits = torch.cat([positive, query @ queue.t()], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long))


torch.manual_seed(41)
patches = torch.randn(96, 1, 16, 16).cumsum(-1).cumsum(-2) / 16
student = Encoder()
teacher = MovingTeacher(student)
log_temperature = nn.Parameter(torch.tensor(-1.5))
opt = torch.optim.SGD([*student.parameters(), log_temperature], lr=0.05, momentum=0.9)

history, worst = [], None
for epoch in range(4):
    for batch in patches.split(24):
        query, key = student(augment(batch)), teacher(augment(batch))
        loss = contrast(query, key, teacher.queue.clone(), log_temperature.exp())
        opt.zero_grad()
        loss.backward()
        opt.step()
        teacher.follow(student)
        teacher.enqueue(key)
        history += [loss.detach()]
        worst = loss.detach() if worst is None else torch.maximum(worst, loss.detach())
    print(f"epoch {epoch}: {torch.stack(history[-4:]).mean():.4f}, worst so far {worst:.4f}")
