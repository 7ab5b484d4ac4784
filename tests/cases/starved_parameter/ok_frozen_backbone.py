# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
head = nn.Linear(16, 2)
for p in backbone.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(20, 8)
    with torch.no_grad():
        feats = backbone(x)
    loss = nn.functional.cross_entropy(head(feats), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
