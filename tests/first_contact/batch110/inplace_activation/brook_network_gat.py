# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = w
"""Nitrate at the confluences of a brook network: two rounds of graph attention on an edge list."""
import torch
from torch import nn
import torch.nn.functional as F


def network(nodes, seed=0):
    """A tree of brooks: every confluence drains into one with a smaller number."""
    g = torch.Generator().manual_seed(seed)
    src = torch.arange(1, nodes)
    dst = (torch.rand(nodes - 1, generator=g) * src).long()
    loops = torch.arange(nodes)
    return torch.cat([src, loops]), torch.cat([dst, loops])


def survey(nodes, src, dst, gen):
    land = torch.randn(nodes, 4, generator=gen)
    load = F.softplus(land @ torch.tensor([1.2, -0.4, 0.3, 0.0]))
    nitrate = load.clone()
    for _ in range(2):
        inflow = torch.zeros(nodes).index_add(0, dst, nitrate[src])
        count = torch.zeros(nodes).index_add(0, dst, torch.ones(len(src)))
        nitrate = 0.5 * load + 0.5 * inflow / count
    return land, nitrate + 0.05 * torch.randn(nodes, generator=gen)


class BrookAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lift = nn.Linear(d_in, d_out)
        self.a_src = nn.Parameter(0.2 * torch.randn(d_out))
        self.a_dst = nn.Parameter(0.2 * torch.randn(d_out))

    def forward(self, x, src, dst):
        h = self.lift(x)
        score = F.leaky_relu(h[src] @ self.a_src + h[dst] @ self.a_dst, 0.2)
        w = torch.exp(score - score.max().detach())  # expect: place
        total = torch.zeros(x.shape[0]).index_add(0, dst, w)
        w /= total[dst] + 1e-9  # expect: place
        return torch.zeros_like(h).index_add(0, dst, w[:, None] * h[src])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = BrookAttention(4, 16), BrookAttention(16, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x, src, dst):
        h = F.elu(self.first(x, src, dst))
        return self.out(F.elu(self.second(h, src, dst))).squeeze(1)


def main():
    torch.manual_seed(9)
    src, dst = network(150)
    gen = torch.Generator().manual_seed(1)
    campaigns = [survey(150, src, dst, gen) for _ in range(6)]
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=1e-3)
    known = torch.rand(150, generator=gen) < 0.7
    for epoch in range(8):
        total = 0.0
        for land, nitrate in campaigns:
            opt.zero_grad()
            error = F.smooth_l1_loss(net(land, src, dst)[known], nitrate[known])
            error.backward()  # expect: place
            opt.step()
            total += error.item()
        with torch.no_grad():
            blind = sum((net(a, src, dst) - b)[~known].abs().mean().item() for a, b in campaigns)
        print(f"{epoch}: fit {total / 6:.4f}, unsampled confluences {blind / 6:.4f}")


main()
