# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn as nn

torch.manual_seed(3)


class Highway(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, 2 * d)

    def forward(self, x):
        gate, value = self.lin(x).split(x.size(1), dim=1)
        gate = gate.clone()
        gate.sigmoid_()
        return x + gate * (value - x)


model = nn.Sequential(Highway(8), Highway(8), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
raw = torch.randn(40, 8)
for column in raw.unbind(1):
    column.sub_(column.mean())
for _ in range(4):
    loss = (model(raw) - raw.norm(dim=1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
