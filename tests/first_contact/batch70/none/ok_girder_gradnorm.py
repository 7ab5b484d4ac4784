# expect: pattern = none
# expect: raises = nothing
"""Girder photos: crack map and condition grade from one trunk, weights of the tasks by gradient norm."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def survey(n, size=16):
    img = 0.3 * torch.randn(n, 1, size, size)
    mask = torch.zeros(n, 1, size, size)
    cracked = torch.rand(n) < 0.6
    for k in torch.nonzero(cracked).flatten():
        col = int(torch.randint(2, size - 2, ()))
        mask[k, 0, :, col] = 1.0
    img = img + mask
    grade = cracked.long() + (mask.sum((1, 2, 3)) > size).long()
    return img, mask, grade


class Inspector(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1))
        self.crack = nn.Conv2d(ch, 1, 1)
        self.grade = nn.Linear(ch, 3)

    def forward(self, img):
        f = F.relu(self.trunk(img))
        # the grade may look at where the cracks are, but must not bend the map
        att = torch.sigmoid(self.crack(f))
        pooled = (f * att.detach()).flatten(2).mean(2)
        return self.crack(f), self.grade(pooled)


class Balancer:
    def __init__(self, n_tasks, alpha=1.0, lr=0.02):
        self.w = torch.ones(n_tasks, requires_grad=True)
        self.opt = torch.optim.Adam([self.w], lr=lr)
        self.alpha, self.first = alpha, None

    def update(self, losses, shared):
        if self.first is None:
            self.first = torch.stack([l.detach() for l in losses])
        norms = []
        for w, loss in zip(self.w, losses):
            g, = torch.autograd.grad(loss, shared, retain_graph=True)
            norms.append(w * g.detach().norm())
        norms = torch.stack(norms)
        pace = torch.stack([l.detach() for l in losses]) / self.first
        goal = (norms.mean() * (pace / pace.mean()) ** self.alpha).detach()
        self.opt.zero_grad()
        (norms - goal).abs().sum().backward()
        self.opt.step()
        with torch.no_grad():
            self.w.mul_(len(losses) / self.w.sum())


torch.manual_seed(6)
net, balancer = Inspector(), Balancer(2)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(10):
    img, mask, grade = survey(12)
    crack, cond = net(img)
    losses = [F.binary_cross_entropy_with_logits(crack, mask), F.cross_entropy(cond, grade)]
    weights = balancer.w.detach().clone()
    opt.zero_grad()
    (weights[0] * losses[0] + weights[1] * losses[1]).backward(retain_graph=True)
    opt_shared = net.trunk[2].weight
    balancer.update(losses, opt_shared)
    opt.step()
    print(step, [round(l.item(), 3) for l in losses], [round(w, 3) for w in balancer.w.tolist()])
