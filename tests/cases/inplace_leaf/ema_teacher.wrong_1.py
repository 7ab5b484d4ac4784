import copy
import torch
from torch import nn

torch.manual_seed(31)

student = nn.Sequential(nn.Linear(14, 28), nn.GELU(), nn.Linear(28, 6))
teacher = copy.deepcopy(student)
opt = torch.optim.AdamW(student.parameters(), lr=2e-3)


def update_teacher(momentum):
    for sp, tp in zip(student.parameters(), teacher.parameters()):
        tp = tp.mul(momentum).add(sp.detach(), alpha=1 - momentum)


for it in range(8):
    batch = torch.randn(32, 14)
    view_a = batch + 0.1 * torch.randn_like(batch)
    view_b = batch + 0.1 * torch.randn_like(batch)
    with torch.no_grad():
        target = teacher(view_b).softmax(dim=-1)
    loss = -(target * student(view_a).log_softmax(dim=-1)).sum(dim=-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_teacher(momentum=0.9)
    if it % 3 == 0:
        print("step", it, "loss", loss.item())
