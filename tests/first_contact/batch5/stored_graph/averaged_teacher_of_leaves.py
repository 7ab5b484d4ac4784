# expect: pattern = stored-graph
# expect: also = growing-history, undetached-target
# expect: raises = nothing
# expect: carrier = slow, average, self.slow, teacher, weights
"""Semi-supervised soil classes: the teacher's weights are a running average of the student's."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class Average:
    def __init__(self, net, keep=0.9):
        self.net, self.keep = net, keep
        self.slow = {k: p.detach().clone() for k, p in net.named_parameters()}

    def update(self):
        for k, p in self.net.named_parameters():
            self.slow[k] = torch.lerp(self.slow[k], p, 1 - self.keep)  # expect: place

    def __call__(self, x):
        return functional_call(self.net, self.slow, (x,))


def samples(n):
    x = torch.randn(n, 6)
    return x, (x[:, :2].sum(1) > 0).long() + (x[:, 2] > 0.5).long()


torch.manual_seed(40)
student = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
teacher = Average(student)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for it in range(24):
    x, y = samples(12)
    u, _ = samples(30)
    clean = F.cross_entropy(student(x), y)
    target = F.softmax(teacher(u), dim=1)  # expect: place
    agree = F.mse_loss(F.softmax(student(u + 0.1 * torch.randn_like(u)), dim=1), target)
    loss = clean + 4.0 * agree
    opt.zero_grad()
    loss.backward()
    opt.step()
    teacher.update()
    if it % 8 == 7:
        print(it + 1, round(clean.item(), 4), round(agree.item(), 5))
