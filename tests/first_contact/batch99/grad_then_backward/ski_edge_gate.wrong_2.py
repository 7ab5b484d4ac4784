"""Kind of turn from an IMU on a ski. The angle of the edge helps as a side task, where it helps."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

KINDS = ["carved", "skidded", "wedge"]


def parse(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--side", type=float, default=0.5)
    ap.add_argument("--no-gate", action="store_true")
    return ap.parse_args([] if argv is None else argv)


def turns(n, length=40):
    """(n, 3, length): roll, yaw and shake of one turn each."""
    kind = torch.randint(len(KINDS), (n,))
    edge = torch.tensor([1.0, 0.6, 0.3])[kind] + 0.15 * torch.randn(n)
    t = torch.linspace(0, torch.pi, length)
    roll = edge[:, None] * torch.sin(t)
    yaw = torch.tensor([0.5, 0.9, 0.7])[kind][:, None] * torch.sin(t - 0.2)
    shake = torch.tensor([0.05, 0.25, 0.15])[kind][:, None] * torch.randn(n, length)
    return torch.stack([roll, yaw, shake], 1) + 0.1 * torch.randn(n, 3, length), kind, edge


class TurnNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv1d(3, 12, 5), nn.GELU(), nn.MaxPool1d(2),
                                   nn.Conv1d(12, 16, 5), nn.GELU(), nn.AdaptiveAvgPool1d(2), nn.Flatten())
        self.kind = nn.Linear(32, len(KINDS))
        self.edge = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.edge(h).squeeze(1)


def agreement(main, aux, shared):
    """Cosine between what the two losses want of the trunk."""
    g_main = torch.autograd.grad(main, shared, retain_graph=True)
    g_aux = torch.autograd.grad(aux, shared)
    dot = sum((a * b).sum() for a, b in zip(g_main, g_aux))
    sizes = [sum(g.pow(2).sum() for g in gs).sqrt() for gs in (g_main, g_aux)]
    return (dot / (sizes[0] * sizes[1] + 1e-12)).item()


def accuracy(net, x, kind):
    net.eval()
    with torch.no_grad():
        right = (net(x)[0].argmax(1) == kind).float().mean().item()
    net.train()
    return right


def main():
    args = parse()
    torch.manual_seed(73)
    x, kind, edge = turns(256)
    test = turns(128)
    net = TurnNet()
    shared = [p for p in net.trunk.parameters() if p.requires_grad]
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        opened = []
        for idx in torch.randperm(len(x)).split(args.batch):
            logits, angle = net(x[idx])
            task = F.cross_entropy(logits, kind[idx])
            side = F.mse_loss(angle, edge[idx])
            gate = 1.0
            total = task + args.side * gate * side
            opt.zero_grad()
            total.backward()
            opt.step()
            opened.append(gate)
        print(f"epoch {epoch}: task {task.item():.3f} side {side.item():.3f} "
              f"gate {sum(opened) / len(opened):.2f} test {accuracy(net, *test[:2]):.2f}")


if __name__ == "__main__":
    main()
