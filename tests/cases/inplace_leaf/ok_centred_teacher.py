# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn
import torch.nn.functional as F


class DINOHead(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.fc = nn.Linear(d, k)
        self.register_buffer("center", torch.zeros(1, k))

    def forward(self, x):
        return self.fc(x)

    @torch.no_grad()
    def update(self, out, m=0.9):
        self.center.mul_(m).add_(out.mean(0, keepdim=True), alpha=1 - m)


student, teacher = (nn.Sequential(nn.Linear(6, 16), nn.GELU(), DINOHead(16, 5)) for _ in range(2))
teacher.load_state_dict(student.state_dict())
for p in teacher.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW(student.parameters(), lr=1e-3)
torch.manual_seed(0)
for step in range(4):
    x = torch.randn(16, 6)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    t = teacher(b)
    target = F.softmax((t - teacher[2].center) / 0.04, -1)
    loss = -(target * F.log_softmax(student(a) / 0.1, -1)).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    teacher[2].update(t)
    with torch.no_grad():
        for p, q in zip(teacher.parameters(), student.parameters()):
            p.mul_(0.99).add_(q, alpha=0.01)
    print(step, loss.item())
