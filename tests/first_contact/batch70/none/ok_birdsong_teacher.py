# expect: pattern = none
# expect: raises = nothing
"""Bird calls without labels: student, slow teacher, a bank of older calls, and a small adversary on the recorder."""
import copy
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def calls(n, n_species=5, n_recorders=3, dim=24):
    g = torch.Generator().manual_seed(99)
    song, hiss = torch.randn(n_species, dim, generator=g), torch.randn(n_recorders, dim, generator=g)
    s, r = torch.randint(n_species, (n,)), torch.randint(n_recorders, (n,))
    def view():
        return song[s] + 0.5 * hiss[r] + 0.3 * torch.randn(n, dim)
    return view(), view(), r


def encoder():
    return nn.Sequential(nn.Linear(24, 32), nn.GELU(), nn.Linear(32, 12))


class Learner:
    def __init__(self, momentum=0.95, bank=4):
        self.student = encoder()
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        self.recorder = nn.Linear(12, 3)
        self.opt = torch.optim.Adam(self.student.parameters(), lr=3e-3)
        self.opt_rec = torch.optim.Adam(self.recorder.parameters(), lr=1e-2)
        self.momentum = momentum
        self.bank = deque(maxlen=bank)
        self.centre = torch.zeros(12)

    def contrast(self, q, k):
        others = torch.cat([k, *self.bank])
        logits = q @ others.t() / 0.2
        return F.cross_entropy(logits, torch.arange(len(q)))

    def slow_copy(self):
        with torch.no_grad():
            for s, t in zip(self.student.parameters(), self.teacher.parameters()):
                t.mul_(self.momentum).add_(s, alpha=1 - self.momentum)

    def step(self, a, b, rec):
        z = self.student(a)
        k = F.normalize(self.teacher(b) - self.centre, dim=1)
        self.centre = 0.9 * self.centre + 0.1 * self.teacher(b).mean(0)
        fool = F.cross_entropy(self.recorder(z), rec)
        loss = self.contrast(F.normalize(z, dim=1), k) - 0.1 * fool
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

        # the recorder classifier looks at the same embeddings, from outside
        self.opt_rec.zero_grad()
        tell = F.cross_entropy(self.recorder(z.detach()), rec)
        tell.backward()
        self.opt_rec.step()

        self.bank.append(k)
        self.slow_copy()
        return loss.item(), tell.item()


if __name__ == "__main__":
    torch.manual_seed(40)
    learner = Learner()
    for i in range(12):
        out = learner.step(*calls(20))
        if i % 4 == 3:
            print(i, "loss %.3f  recorder %.3f" % out)
