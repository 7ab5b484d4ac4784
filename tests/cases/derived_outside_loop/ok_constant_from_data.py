import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(30, 4)
whitening = torch.linalg.inv(torch.linalg.cholesky(X.t() @ X / 30)).t()
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(X @ whitening) - X[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
