# expect: pattern = none
"""Depth, shade and edge from a small patch: task weights kept in step by gradient norms."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(51)


class PatchNet(nn.Module):
    def __init__(self, tasks=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(25, 32), nn.ReLU())
        self.shared = nn.Linear(32, 32)
        self.heads = nn.ModuleList(nn.Linear(32, 1) for _ in range(tasks))

    def forward(self, patch):
        h = torch.relu(self.shared(self.body(patch)))
        return [head(h).squeeze(-1) for head in self.heads]


patches = torch.randn(96, 25)
wanted = [patches[:, :5].sum(1), 0.1 * patches[:, 10:].abs().sum(1), 4 * patches[:, 7] * patches[:, 8]]

net = PatchNet()
balance = torch.ones(3, requires_grad=True)
net_opt = torch.optim.Adam(net.parameters(), lr=3e-3)
balance_opt = torch.optim.Adam([balance], lr=1e-2)
first = None

for epoch in range(8):
    for rows in torch.arange(96).split(32):
        guesses = net(patches[rows])
        losses = torch.stack([F.mse_loss(g, w[rows]) for g, w in zip(guesses, wanted)])
        if first is None:
            first = losses.detach()

        net_opt.zero_grad()
        (balance.detach() * losses).sum().backward(retain_graph=True)

        weight = net.shared.weight
        norms = torch.stack([
            torch.autograd.grad(balance[i] * losses[i], weight, retain_graph=True, create_graph=True)[0].norm()
            for i in range(3)
        ])
        pace = (losses / first).detach()
        goal = norms.mean().detach() * (pace / pace.mean()) ** 0.5
        balance_opt.zero_grad()
        balance.grad = torch.autograd.grad((norms - goal).abs().sum(), balance)[0]

        net_opt.step()
        balance_opt.step()
        with torch.no_grad():
            balance.mul_(3 / balance.sum())
    print(f"epoch {epoch}: " + " ".join(f"{v:.3f}" for v in losses.tolist()), balance.detach().numpy().round(2))
