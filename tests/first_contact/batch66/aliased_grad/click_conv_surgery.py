# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = g_click, task_gradient
# Entire-space model (click, then conversion given click) on an ad log,
# with PCGrad-like surgery on the shared tables: when the two tasks disagree
# the component that hurts the other one is projected out.
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy

torch.manual_seed(5)


@dataclass
class Cfg:
    users: int = 40
    ads: int = 30
    slots: int = 4
    dim: int = 8
    rows: int = 768
    batch: int = 64
    lr: float = 0.02


class Tables(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.user = nn.Embedding(c.users, c.dim)
        self.ad = nn.Embedding(c.ads, c.dim)
        self.slot = nn.Embedding(c.slots, c.dim)
        self.mix = nn.Linear(3 * c.dim, 16)

    def forward(self, x):
        e = torch.cat([self.user(x[:, 0]), self.ad(x[:, 1]), self.slot(x[:, 2])], dim=1)
        return torch.relu(self.mix(e))


class Esmm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tables = Tables(c)
        self.click_tower = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
        self.conv_tower = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        h = self.tables(x)
        p_click = torch.sigmoid(self.click_tower(h)).squeeze(1)
        p_conv = torch.sigmoid(self.conv_tower(h)).squeeze(1)
        return p_click, p_click * p_conv


def ad_log(c):
    x = torch.stack([torch.randint(n, (c.rows,)) for n in (c.users, c.ads, c.slots)], dim=1)
    appetite, bait, worth = torch.randn(c.users), torch.randn(c.ads), torch.randn(c.ads)
    click = (torch.rand(c.rows) < torch.sigmoid(appetite[x[:, 0]] + 2 * bait[x[:, 1]])).float()
    conv = click * (torch.rand(c.rows) < torch.sigmoid(worth[x[:, 1]] - 3 * bait[x[:, 1]])).float()
    return x, click, conv


def task_gradient(loss, params):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()  # expect: place
    loss.backward(retain_graph=True)  # expect: place
    return [p.grad for p in params]  # expect: place


def project(g, other):
    dot = sum((a * b).sum() for a, b in zip(g, other))
    if dot >= 0:
        return g, False
    size = sum((b * b).sum() for b in other)
    return [a - dot / size * b for a, b in zip(g, other)], True


def train(c):
    x, click, conv = ad_log(c)
    model = Esmm(c)
    opt = torch.optim.Adam(model.parameters(), lr=c.lr)
    shared = list(model.tables.parameters())
    for epoch in range(5):
        conflicts = 0
        for rows in torch.randperm(c.rows).split(c.batch):
            opt.zero_grad()
            p_click, p_both = model(x[rows])
            l_click = binary_cross_entropy(p_click, click[rows])
            l_conv = binary_cross_entropy(p_both, conv[rows])

            g_click = task_gradient(l_click, shared)  # expect: place
            g_conv = task_gradient(l_conv, shared)  # expect: place
            a, hit_a = project(g_click, g_conv)  # expect: place
            b, hit_b = project(g_conv, g_click)  # expect: place
            for p, ga, gb in zip(shared, a, b):
                p.grad = ga + gb  # expect: place
            opt.step()
            conflicts += int(hit_a or hit_b)
        print(f"epoch {epoch}: click {l_click.item():.4f} conv {l_conv.item():.4f} conflicts {conflicts}")


train(Cfg())
