# expect: pattern = none
# expect: raises = nothing
"""Self-supervised clip encoder: student/EMA teacher, a queue of past teacher
embeddings as negatives, running centre of the teacher outputs."""
import copy
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class ClipEncoder(nn.Module):
    def __init__(self, width=12, dim=16):
        super().__init__()
        self.frame = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.time = nn.GRU(width, dim, batch_first=True)

    def forward(self, clip):
        b, t = clip.shape[:2]
        f = self.frame(clip.flatten(0, 1)).mean(dim=(2, 3)).view(b, t, -1)
        _, h = self.time(f)
        return F.normalize(h[-1], dim=-1)


class Teacher:
    def __init__(self, student, momentum):
        self.net = copy.deepcopy(student).requires_grad_(False)
        self.m = momentum

    def follow(self, student):
        for pt, ps in zip(self.net.parameters(), student.parameters()):
            pt.mul_(self.m).add_(ps.detach(), alpha=1 - self.m)

    def __call__(self, clip):
        return self.net(clip)


class Queue:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, z):
        self.items.append(z)

    def negatives(self):
        return torch.cat(list(self.items)) if self.items else None


def clips(n, gen, t=4, size=10):
    speed = torch.rand(n, 1, 1, 1, generator=gen) * 2
    axis = torch.arange(size, dtype=torch.float32)
    steps = torch.arange(t, dtype=torch.float32).view(1, t, 1, 1)
    wave = torch.sin(axis.view(1, 1, 1, -1) * (0.3 + speed) - speed * steps)
    return (wave.expand(n, t, size, size)).unsqueeze(2).contiguous()


def jitter(clip, gen):
    gain = 0.8 + 0.4 * torch.rand(len(clip), 1, 1, 1, 1, generator=gen)
    return clip * gain + 0.05 * torch.randn(clip.shape, generator=gen)


def main():
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(14)
    student = ClipEncoder()
    teacher, queue = Teacher(student, 0.95), Queue(4)
    opt = torch.optim.Adam(student.parameters(), lr=5e-3)
    hist = []
    for step in range(40):
        x = clips(8, gen)
        key = teacher(jitter(x, gen))
        query = student(jitter(x, gen))
        pool = queue.negatives()
        bank = key if pool is None else torch.cat([key, pool])
        loss = F.cross_entropy(query @ bank.t() / 0.2, torch.arange(len(query)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        teacher.follow(student)
        queue.push(key)
        hist.append(loss.item())
    print("loss %.3f -> %.3f" % (sum(hist[5:10]) / 5, sum(hist[-5:]) / 5))


main()
