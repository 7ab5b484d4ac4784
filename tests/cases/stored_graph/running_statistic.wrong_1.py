import torch
from torch import nn


class MovingNorm(nn.Module):
    """Normalises with exponential moving statistics, in training as well."""

    def __init__(self, dim, momentum=0.1):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))
        self.register_buffer("running_mean", torch.zeros(dim))
        self.register_buffer("running_var", torch.ones(dim))
        self.momentum = momentum

    def forward(self, x):
        m = self.momentum
        self.running_mean = (1 - m) * self.running_mean + m * x.mean(0)
        self.running_var = (1 - m) * self.running_var + m * x.var(0)
        x = (x - self.running_mean) / (self.running_var + 1e-5).sqrt()
        return self.gamma * x.detach() + self.beta


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 12), MovingNorm(12), nn.SiLU(), nn.Linear(12, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


torch.manual_seed(10)
X = torch.randn(48, 5)
Y = (X[:, 0] * X[:, 1]).sin()
model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in zip(X.split(16), Y.split(16)):
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
