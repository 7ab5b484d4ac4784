import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)


class GatedUnit(nn.Module):
    def __init__(self, n_in, n_out, keep=0.8):
        super().__init__()
        self.value = nn.Linear(n_in, n_out)
        self.gate = nn.Linear(n_in, n_out)
        self.keep = keep

    def forward(self, x):
        gate = self.gate(x).sigmoid().detach()
        if self.training:
            mask = (torch.rand_like(gate) < self.keep).float()
            gate.mul_(mask).div_(self.keep)
        return gate * self.value(x)


def fit(model, loader, epochs):
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    loss_fn = nn.SmoothL1Loss()
    for epoch in range(epochs):
        running = 0.0
        for xb, yb in loader:
            loss = loss_fn(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print(epoch, running / len(loader))


X = torch.randn(60, 7)
loader = DataLoader(TensorDataset(X, X[:, :2] * X[:, 2:4]), batch_size=20)
fit(nn.Sequential(GatedUnit(7, 16), GatedUnit(16, 2)), loader, epochs=2)
