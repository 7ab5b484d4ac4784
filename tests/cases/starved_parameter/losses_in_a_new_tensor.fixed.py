# silent: torch.tensor([...], requires_grad=True)
import torch
from torch import nn, optim


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.GELU())
        self.heads = nn.ModuleDict({k: nn.Linear(32, 1) for k in ("depth", "normal", "seg")})

    def forward(self, x):
        z = self.body(x)
        return {k: h(z) for k, h in self.heads.items()}


def total_loss(preds, targets, weights):
    parts = [weights[k] * nn.functional.l1_loss(preds[k], targets[k]) for k in preds]
    return torch.stack(parts).sum()


def train(cfg):
    torch.manual_seed(cfg["seed"])
    net = MultiHead()
    optimizer = optim.Adam(net.parameters(), lr=cfg["lr"])
    for step in range(cfg["steps"]):
        x = torch.randn(16, 12)
        y = {k: torch.randn(16, 1) for k in ("depth", "normal", "seg")}
        optimizer.zero_grad()
        loss = total_loss(net(x), y, {"depth": 1.0, "normal": 0.5, "seg": 2.0})
        loss.backward()
        optimizer.step()
        print(step, loss.item())


train({"seed": 0, "lr": 1e-3, "steps": 5})
