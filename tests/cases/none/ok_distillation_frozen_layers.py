# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)


def convnet(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(width, 4),
    )


@torch.inference_mode()
def soften(teacher, x, T):
    return F.softmax(teacher(x) / T, dim=1)


def distil(student, teacher, steps, T=3.0, alpha=0.7):
    for p in student[0].parameters():
        p.requires_grad_(False)
    opt = torch.optim.AdamW((p for p in student.parameters() if p.requires_grad), lr=1e-3)
    teacher.eval()
    for step in range(steps):
        x, y = torch.rand(8, 1, 8, 8), torch.randint(0, 4, (8,))
        logits = student(x)
        kd = F.kl_div(F.log_softmax(logits / T, dim=1), soften(teacher, x, T).clone(), reduction="batchmean") * T * T
        loss = alpha * kd + (1 - alpha) * F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield loss.item()


for value in distil(convnet(4), convnet(8), steps=4):
    print(round(value, 4))
