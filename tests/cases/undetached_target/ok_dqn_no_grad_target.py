import copy
import torch
from torch import nn

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target_net = copy.deepcopy(q_net)
opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
for step in range(6):
    s, s2 = torch.randn(10, 4), torch.randn(10, 4)
    a, r = torch.randint(0, 2, (10, 1)), torch.randn(10)
    with torch.no_grad():
        target = r + 0.99 * target_net(s2).max(dim=1).values
    loss = nn.functional.smooth_l1_loss(q_net(s).gather(1, a).squeeze(1), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        target_net.load_state_dict(q_net.state_dict())
