# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
accumulate = 4
opt.zero_grad()
for i in range(12):
    x = torch.randn(8, 5)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        print(i, loss.item() * accumulate)
