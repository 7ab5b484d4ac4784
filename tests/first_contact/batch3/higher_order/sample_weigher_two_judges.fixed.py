"""Learning to weigh noisy samples: a virtual step, then the clean loss judges the weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class Weigher(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, losses):
        return torch.sigmoid(self.net(losses[:, None])).squeeze(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(4, 20), nn.Linear(20, 2)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))


def virtual_step(model, weigher, x, y, lr):
    """One differentiable SGD step; returns the fast weights."""
    slow = dict(model.named_parameters())
    each = F.cross_entropy(functional_call(model, slow, (x,)), y, reduction="none")
    weights = weigher(each.detach())
    grads = torch.autograd.grad((weights * each).mean(), list(slow.values()), create_graph=True)
    return {n: p - lr * g for (n, p), g in zip(slow.items(), grads)}


def sample(n, noise=0.0):
    x = torch.randn(n, 4)
    y = (x[:, 0] * x[:, 1] > 0).long()
    flip = torch.rand(n) < noise
    return x, torch.where(flip, 1 - y, y)


def main(rounds=6, inner_lr=0.5):
    torch.manual_seed(29)
    model, weigher = Classifier(), Weigher()
    model_opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    meta_opt = torch.optim.Adam(weigher.parameters(), lr=1e-2)

    for r in range(rounds):
        x, y = sample(48, noise=0.4)
        fast = virtual_step(model, weigher, x, y, inner_lr)

        meta_opt.zero_grad()
        meta = 0.0
        for source in ("held-out", "balanced"):
            xv, yv = sample(24)
            if source == "balanced":
                keep = torch.cat([(yv == c).nonzero().flatten()[:8] for c in (0, 1)])
                xv, yv = xv[keep], yv[keep]
            clean = F.cross_entropy(functional_call(model, fast, (xv,)), yv)
            meta = meta + clean
        meta.backward()
        meta = meta.item()
        meta_opt.step()

        each = F.cross_entropy(model(x), y, reduction="none")
        with torch.no_grad():
            w = weigher(each)
        model_opt.zero_grad()
        ((w * each).sum() / w.sum()).backward()
        model_opt.step()
        print(r, "meta %.4f" % (meta / 2), "mean weight %.3f" % w.mean().item())


main()
