import torch
from torch import nn


class SlimLSTMCell(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        self.x2h = nn.Linear(n_in, 4 * n_hid)
        self.h2h = nn.Linear(n_hid, 4 * n_hid, bias=False)

    def forward(self, x, h, c):
        gates = self.x2h(x) + self.h2h(h)
        i, f, g, o = gates.detach().chunk(4, dim=1)
        i.sigmoid_()
        f.sigmoid_()
        g.tanh_()
        o.sigmoid_()
        c = f * c + i * g
        return o * torch.tanh(c), c


torch.manual_seed(0)
cell, readout = SlimLSTMCell(3, 12), nn.Linear(12, 3)
opt = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=1e-2)
for it in range(4):
    series = torch.cumsum(0.3 * torch.randn(9, 5, 3), dim=0)
    h = c = torch.zeros(5, 12)
    loss = 0
    for t in range(8):
        h, c = cell(series[t], h, c)
        loss = loss + (readout(h) - series[t + 1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
