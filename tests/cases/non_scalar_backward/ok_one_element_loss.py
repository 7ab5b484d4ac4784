# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)


class EnergyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1))

    def forward(self, x):
        return self.net(x.mean(0, keepdim=True))


model = EnergyModel()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(5):
    energy = model(torch.randn(6, 4) + 1) - model(torch.randn(6, 4))
    loss = energy + 0.1 * energy ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.shape, float(loss))
