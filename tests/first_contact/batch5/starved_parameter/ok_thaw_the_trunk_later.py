"""Bird calls: the trunk is kept still for two epochs and thawed then, with a smaller rate."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv1d(1, 6, 5), nn.ReLU(), nn.Conv1d(6, 8, 5), nn.ReLU())
        self.head = nn.Linear(8, 3)
        self.frozen = True

    def forward(self, x):
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            h = self.trunk(x).mean(2)
        return self.head(h)


def calls(n):
    y = torch.randint(3, (n,))
    t = torch.linspace(0, 6, 48)
    return (torch.sin((2 + 2 * y)[:, None] * t) + 0.2 * torch.randn(n, 48))[:, None], y


def main():
    torch.manual_seed(19)
    net = Calls()
    opt = torch.optim.Adam([{"params": net.head.parameters(), "lr": 1e-2}])
    for epoch in range(4):
        if epoch == 2:
            net.frozen = False
            opt.add_param_group({"params": list(net.trunk.parameters()), "lr": 1e-3})
        for _ in range(4):
            x, y = calls(12)
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, "frozen" if net.frozen else "thawed", round(loss.item(), 4))


main()
