# A custom autograd function, a gradient hook and checkpointing in one small model.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class ReverseGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class DomainAdversarial(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 8))
        self.label, self.domain = nn.Linear(8, 3), nn.Linear(8, 2)

    def forward(self, x, strength):
        h = checkpoint(self.features, x, use_reentrant=False)
        return self.label(h), self.domain(ReverseGradient.apply(h, strength))


torch.manual_seed(0)
model = DomainAdversarial()
model.label.weight.register_hook(lambda g: g.clamp(-1, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
ce = nn.CrossEntropyLoss()
for step in range(4):
    x = torch.randn(10, 6)
    labels, domains = model(x, strength=step / 4)
    loss = ce(labels, torch.randint(0, 3, (10,))) + ce(domains, torch.randint(0, 2, (10,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
