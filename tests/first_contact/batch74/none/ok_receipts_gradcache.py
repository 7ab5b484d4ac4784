# expect: pattern = none
# expect: raises = nothing

"""Match receipts to bank entries with a batch too large for one graph: representations first, pieces after."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, inputs, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class GradCache:
    def __init__(self, towers, loss_fn, chunk):
        self.towers, self.loss_fn, self.chunk = towers, loss_fn, chunk

    def forward_no_grad(self, tower, x):
        with torch.no_grad():
            return torch.cat([tower(part) for part in x.split(self.chunk)])

    def build_cache(self, reps):
        reps = [r.detach().requires_grad_() for r in reps]
        loss = self.loss_fn(*reps)
        loss.backward()
        return [r.grad for r in reps], loss.detach()

    def forward_backward(self, tower, x, cache):
        for part, grad in zip(x.split(self.chunk), cache.split(self.chunk)):
            surrogate = torch.dot(tower(part).flatten(), grad.flatten())
            surrogate.backward()

    def step(self, *inputs):
        reps = [self.forward_no_grad(t, x) for t, x in zip(self.towers, inputs)]
        caches, loss = self.build_cache(reps)
        for tower, x, cache in zip(self.towers, inputs, caches):
            self.forward_backward(tower, x, cache)
        return loss


class ContrastiveLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, b):
        scores = self.log_scale.exp() * a @ b.t()
        truth = torch.arange(len(a))
        return (F.cross_entropy(scores, truth) + F.cross_entropy(scores.t(), truth)) / 2


def pairs(n):
    purchase = torch.randn(n, 6)
    receipt = torch.cat([purchase, torch.randn(n, 4)], dim=1)
    entry = torch.cat([purchase.tanh(), 0.2 * torch.randn(n, 2)], dim=1)
    return receipt, entry


torch.manual_seed(17)
towers = [Tower(10), Tower(8)]
criterion = ContrastiveLoss()
cache = GradCache(towers, criterion, chunk=16)
modules = nn.ModuleList(towers + [criterion])
optimizer = torch.optim.AdamW(modules.parameters(), lr=2e-3)
for step in range(15):
    optimizer.zero_grad()
    loss = cache.step(*pairs(96))
    optimizer.step()
    if step % 5 == 4:
        print("step %d  loss %.4f  scale %.2f" % (step, loss, criterion.log_scale.exp().item()))
