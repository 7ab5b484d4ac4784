# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn

torch.manual_seed(1)
online = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))
target = copy.deepcopy(online).eval().requires_grad_(False)
opt = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(6):
    s, nxt = torch.randn(16, 4), torch.randn(16, 4)
    a = torch.randint(0, 3, (16, 1))
    goal = s[:, :1] + 0.95 * target(nxt).max(1, keepdim=True).values
    loss = nn.functional.smooth_l1_loss(online(s).gather(1, a), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        target.load_state_dict(online.state_dict())
        best = copy.deepcopy(online.state_dict())
print(loss.item(), len(best))
