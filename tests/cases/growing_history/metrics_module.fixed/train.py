import torch
from torch import nn

from metrics import History

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
history = History("loss", "mae")
for step in range(15):
    x = torch.randn(16, 5)
    y = x[:, :1] * x[:, 1:2]
    out = net(x)
    loss = nn.functional.mse_loss(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.add(loss=loss, mae=(out - y).abs().mean())
print(history.report())
