import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))

    def predict(self, x):
        return self.net(x).squeeze(-1)

    def forward(self, x):
        return self.net(x).squeeze(-1)


def train(model, data, epochs=2):
    opt = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        for x, y in data:
            opt.zero_grad()
            loss = (model.predict(x) - y).abs().mean()
            loss.backward()
            opt.step()


torch.manual_seed(0)
train(Regressor(), [(torch.randn(4, 3), torch.randn(4)) for _ in range(3)])
