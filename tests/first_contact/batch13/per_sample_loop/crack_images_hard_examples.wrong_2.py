"""Cracks in asphalt: focal loss with its own backward; the hardest patches of a batch are learned one by one."""
import torch
import torch.nn as nn


class Focal(torch.autograd.Function):
    """Focal loss of a logit for labels 0 and 1, one value for each patch (gamma = 2)."""

    @staticmethod
    def forward(ctx, logit, label):
        p = torch.sigmoid(torch.where(label > 0, logit, -logit))
        ctx.save_for_backward(p, label)
        return -((1 - p) ** 2) * p.log()

    @staticmethod
    def backward(ctx, grad_out):
        p, label = ctx.saved_tensors
        slope = (1 - p) ** 2 * (2 * p * p.log() - (1 - p))
        return grad_out * torch.where(label > 0, slope, -slope), None


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3), nn.ReLU())
        self.score = nn.Linear(8 * 3 * 3, 1)

    def forward(self, patch):
        return self.score(self.conv(patch).flatten(1)).squeeze(1)


def patches(n):
    label = (torch.rand(n) < 0.4).float()
    img = 0.3 * torch.randn(n, 1, 12, 12)
    img[:, 0, torch.arange(12), torch.arange(12)] += 1.5 * label[:, None]
    return img, label


torch.manual_seed(19)
net = PatchNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for it in range(10):
    img, label = patches(24)
    losses = Focal.apply(net(img), label)
    hardest = losses.topk(8).values
    optimizer.zero_grad()
    hardest = torch.tensor(hardest.tolist(), requires_grad=True)
    hardest.sum().backward()
    optimizer.step()
    print(it, round(losses.mean().item(), 4), round(hardest.mean().item(), 4))
