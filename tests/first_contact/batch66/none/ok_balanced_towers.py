# expect: pattern = none
# expect: raises = nothing
"""Three towers (click, save, purchase) on one ad embedding, losses balanced by gradient norm.

The task weights have an optimizer of their own; the norms are taken on the
last shared layer only.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)

TASKS = ("click", "save", "purchase")
ADS, USERS = 50, 80


class Bottom(nn.Module):
    def __init__(self, dim=8, out=16):
        super().__init__()
        self.ad = nn.Embedding(ADS, dim)
        self.user = nn.Embedding(USERS, dim)
        self.last = nn.Linear(3 * dim, out)

    def forward(self, ad, user):
        a, u = self.ad(ad), self.user(user)
        return torch.relu(self.last(torch.cat([a, u, a * u], dim=1)))


class Balancer:
    def __init__(self, tasks, alpha=1.2, lr=0.02):
        self.weight = torch.ones(tasks, requires_grad=True)
        self.opt = torch.optim.Adam([self.weight], lr=lr)
        self.alpha = alpha
        self.first = None

    def combine(self, losses):
        if self.first is None:
            self.first = losses.detach().clone()
        return (self.weight.detach() * losses).sum()

    def rebalance(self, losses, anchor):
        norms = torch.stack([
            torch.autograd.grad(self.weight[i] * losses[i], anchor, retain_graph=True, create_graph=True)[0].norm()
            for i in range(len(losses))
        ])
        pace = losses.detach() / self.first
        goal = (norms.mean() * (pace / pace.mean()) ** self.alpha).detach()
        gap = (norms - goal).abs().sum()
        self.opt.zero_grad()
        self.weight.grad = torch.autograd.grad(gap, self.weight)[0]
        self.opt.step()
        with torch.no_grad():
            self.weight.mul_(len(losses) / self.weight.sum())


def impressions(n):
    ad, user = torch.randint(ADS, (n,)), torch.randint(USERS, (n,))
    taste, pull = torch.randn(USERS, 3), torch.randn(ADS, 3)
    rate = torch.sigmoid(taste[user] + pull[ad] - torch.tensor([0.0, 1.5, 3.0]))
    return ad, user, (torch.rand(n, 3) < rate).float()


def main():
    ad, user, y = impressions(640)
    bottom = Bottom()
    towers = nn.ModuleDict({t: nn.Linear(16, 1) for t in TASKS})
    opt = torch.optim.Adam([*bottom.parameters(), *towers.parameters()], lr=5e-3)
    balance = Balancer(len(TASKS))
    for epoch in range(3):
        for rows in torch.randperm(len(ad)).split(80):
            h = bottom(ad[rows], user[rows])
            losses = torch.stack([
                F.binary_cross_entropy_with_logits(towers[t](h).squeeze(1), y[rows, i])
                for i, t in enumerate(TASKS)
            ])
            opt.zero_grad()
            balance.combine(losses).backward(retain_graph=True)
            balance.rebalance(losses, bottom.last.weight)
            opt.step()
        shown = "  ".join(f"{t} {l:.3f} (w {w:.2f})" for t, l, w in zip(TASKS, losses.tolist(), balance.weight.tolist()))
        print(f"epoch {epoch}  {shown}")


main()
