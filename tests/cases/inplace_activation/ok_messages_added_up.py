# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class EdgeConv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.msg = nn.Linear(2 * d, d)
        self.upd = nn.GRUCell(d, d)

    def forward(self, x, edge_index):
        src, dst = edge_index
        m = torch.relu_(self.msg(torch.cat([x[src], x[dst]], -1)))
        agg = torch.zeros_like(x)
        agg.index_add_(0, dst, m)
        count = torch.zeros(x.size(0), 1).index_add_(0, dst, torch.ones(dst.numel(), 1))
        agg /= count.clamp_(min=1)
        return self.upd(agg, x)


class Net(nn.Module):
    def __init__(self, d=8, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(EdgeConv(d) for _ in range(layers))
        self.head = nn.Linear(d, 1)

    def forward(self, x, ei, batch, n):
        for layer in self.layers:
            x = layer(x, ei)
        pooled = torch.zeros(n, x.size(1))
        pooled.index_add_(0, batch, x)
        return self.head(pooled).squeeze(-1)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)
for epoch in range(4):
    x = torch.randn(30, 8)
    ei = torch.randint(0, 30, (2, 80))
    batch = torch.arange(30) // 10
    y = torch.randn(3)
    opt.zero_grad()
    loss = (net(x, ei, batch, 3) - y).abs().mean()
    loss.backward()
    opt.step()
    sched.step()
    print(epoch, loss.item())
