import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Sequential(nn.Linear(6, 12), nn.ReLU()), nn.Linear(12, 2)
x, y = torch.randn(30, 6), torch.randint(0, 2, (30,))
with torch.no_grad():
    features = backbone(x)
opt = torch.optim.Adam(head.parameters(), lr=0.01)
for _ in range(5):
    loss = nn.functional.cross_entropy(head(features), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
