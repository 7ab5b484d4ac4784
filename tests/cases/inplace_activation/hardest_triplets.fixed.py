import torch
from torch import nn


def pairwise(x):
    d = x.pow(2).sum(1, keepdim=True)
    d = d + d.t() - 2 * x @ x.t()
    return d.clamp(min=1e-12).sqrt()


def batch_hard(x, labels, margin=0.3):
    dist = pairwise(x)
    same = labels[:, None] == labels[None]
    pos = dist.clone()
    pos[~same] = 0
    dist = dist + same * 1e6
    hardest_pos = pos.max(1).values
    hardest_neg = dist.min(1).values
    return torch.relu(hardest_pos - hardest_neg + margin).mean()


class ReID(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(inplace=True), nn.Linear(32, 8))

    def forward(self, x):
        return nn.functional.normalize(self.body(x))


def main():
    torch.manual_seed(0)
    net = ReID()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
    for it in range(3):
        x, labels = torch.randn(16, 10), torch.arange(16) // 4
        loss = batch_hard(net(x), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, loss.item())


if __name__ == "__main__":
    main()
