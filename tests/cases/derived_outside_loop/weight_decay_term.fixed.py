import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(50, 8)
t = X[:, :2].sum(1, keepdim=True) + 0.1 * torch.randn(50, 1)
mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(mlp.parameters(), lr=0.05)

for epoch in range(2):
    for i in range(0, 50, 25):
        l2_reg = torch.tensor(0.0)
        for param in mlp.parameters():
            l2_reg = l2_reg + param.norm(2) ** 2
        pred = mlp(X[i : i + 25])
        loss = (pred - t[i : i + 25]).pow(2).mean() + 1e-3 * l2_reg
        opt.zero_grad()
        loss.backward()
        opt.step()
