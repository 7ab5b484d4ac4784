# expect: pattern = none
# expect: raises = nothing
import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class EMA:
    def __init__(self, model, decay):
        self.model = copy.deepcopy(model)
        self.decay = decay
        for p in self.model.parameters():
            p.requires_grad_(False)

    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.mul_(self.decay).add_(theirs.detach(), alpha=1 - self.decay)
        for mine, theirs in zip(self.model.buffers(), model.buffers()):
            mine.copy_(theirs)


def main(args):
    torch.manual_seed(args.seed)
    student = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(True), nn.Linear(16, 3))
    ema = EMA(student, args.decay)
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for it in range(args.iters):
        x, unlabelled = torch.randn(12, 6), torch.randn(24, 6)
        y = x[:, :3].argmax(1)
        pseudo = ema.model(unlabelled).softmax(1)
        confidence, hard = pseudo.max(dim=1)
        keep = (confidence > args.threshold).float()
        strong = student(unlabelled + 0.2 * torch.randn_like(unlabelled))
        loss = F.cross_entropy(student(x), y) + (keep * F.cross_entropy(strong, hard, reduction="none")).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        ema.update(student)
        print(f"[{it}] loss {loss:.4f} kept {int(keep.sum())}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--decay", type=float, default=0.95)
    p.add_argument("--threshold", type=float, default=0.4)
    p.add_argument("--iters", type=int, default=5)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args([]))
