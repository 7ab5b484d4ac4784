# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = self.full, full
import torch
from torch import nn
from dataclasses import dataclass, field


@dataclass
class SVRG:
    """Variance reduced SGD; `full` is the gradient over the whole data set at the snapshot."""

    model: nn.Module
    opt: torch.optim.Optimizer
    full: list = field(default_factory=list)

    def loss(self, x, y):
        return nn.functional.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y)

    def snapshot(self, x, y):
        self.opt.zero_grad(set_to_none=False)
        self.loss(x, y).backward()
        self.full = [p.grad for p in self.model.parameters()]  # expect: place
        self.anchor = [p.detach().clone() for p in self.model.parameters()]

    def gradient_at_anchor(self, x, y):
        now = [p.detach().clone() for p in self.model.parameters()]
        with torch.no_grad():
            for p, a in zip(self.model.parameters(), self.anchor):
                p.copy_(a)
        old = torch.autograd.grad(self.loss(x, y), list(self.model.parameters()))
        with torch.no_grad():
            for p, n in zip(self.model.parameters(), now):
                p.copy_(n)
        return old

    def inner(self, x, y):
        old = self.gradient_at_anchor(x, y)
        self.opt.zero_grad(set_to_none=False)  # expect: place
        self.loss(x, y).backward()  # expect: place
        for p, o, f in zip(self.model.parameters(), old, self.full):
            p.grad += f - o
        self.opt.step()


torch.manual_seed(2)
X = torch.randn(40, 5)
Y = (X[:, 0] * X[:, 1] > 0).float()
model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
svrg = SVRG(model, torch.optim.SGD(model.parameters(), lr=0.2))
for epoch in range(2):
    svrg.snapshot(X, Y)
    for x, y in zip(X.split(10), Y.split(10)):
        svrg.inner(x, y)
    print(epoch, svrg.loss(X, Y).item())
