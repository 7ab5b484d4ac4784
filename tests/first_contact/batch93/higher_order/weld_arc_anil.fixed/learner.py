"""ANIL: the body is meta-learnt, only the head moves in the inner loop."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class ArcNet(nn.Module):
    def __init__(self, width=12, classes=2):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(2, width, 5, padding=2), nn.GroupNorm(3, width), nn.ReLU(), nn.AvgPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.GroupNorm(3, width), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
            nn.Flatten())
        self.head = nn.Linear(4 * width, classes)
        self.log_inner_lr = nn.Parameter(torch.tensor(-1.0))

    def adapt(self, support, steps=3):
        """The head after a few steps on the support set of one welding procedure."""
        x, y = support
        z = self.body(x)
        fast = dict(self.head.named_parameters())
        for _ in range(steps):
            loss = F.cross_entropy(functional_call(self.head, fast, (z,)), y)
            slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            rate = self.log_inner_lr.exp()
            fast = {k: w - rate * g for (k, w), g in zip(fast.items(), slopes)}
        return fast

    def classify(self, x, fast):
        return functional_call(self.head, fast, (self.body(x),))
