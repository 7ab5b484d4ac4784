import copy
import torch
from torch import nn


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        h = torch.relu(self.body(x))
        if self.training:
            self.mean.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        return self.head(h - self.mean)


torch.manual_seed(0)
s = Student()
t = copy.deepcopy(s).eval().requires_grad_(False)
opt = torch.optim.Adam(s.parameters())
history = []
for i in range(6):
    x = torch.randn(8, 4)
    loss = (s(x) - t(x)).pow(2).mean() + 0.1
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(s.parameters(), 1.0)
    opt.step()
    with torch.no_grad():
        for a, b in zip(t.parameters(), s.parameters()):
            a.lerp_(b, 0.01)
    history.append(loss.item())
