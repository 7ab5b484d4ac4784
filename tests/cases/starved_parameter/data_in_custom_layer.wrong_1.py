import torch
from torch import nn


class SparseLinear(nn.Module):
    """Keeps the largest weights of every row."""

    def __init__(self, n_in, n_out, keep=0.5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / n_in ** 0.5)
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.k = max(1, int(keep * n_in))

    def forward(self, x):
        weight = self.weight.detach()
        threshold = weight.abs().topk(self.k, dim=1).values[:, -1:]
        mask = (weight.abs() >= threshold).float()
        return nn.functional.linear(x, weight * mask, self.bias)


torch.manual_seed(3)
net = nn.Sequential(SparseLinear(8, 16), nn.ReLU(), SparseLinear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(5):
    x = torch.randn(40, 8)
    loss = nn.functional.mse_loss(net(x), x[:, :1] - x[:, 1:2])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
