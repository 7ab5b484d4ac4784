# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = recent, feats, self.recent, f
# %% Slow features of a walking robot: predicts torque each step, and every third step pulls the last
# features together so that they change slowly.
from collections import deque

import torch
from torch import nn

# %%
torch.manual_seed(25)
enc = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 4))
head = nn.Linear(4, 2)
opt_enc = torch.optim.Adam(enc.parameters(), lr=2e-3)
opt_head = torch.optim.Adam(head.parameters(), lr=5e-3)
recent = deque(maxlen=3)


# %%
def stride(k):
    t = torch.arange(8.0)[:, None] + 8 * k
    phase = t * torch.linspace(0.2, 0.9, 6)
    x = torch.sin(phase) + 0.05 * torch.randn(8, 6)
    return x, torch.cos(phase[:, :2])


# %%
for k in range(12):
    x, torque = stride(k)
    f = enc(x)
    loss = (head(f) - torque).pow(2).mean()
    if k % 3 == 2:
        slowness = sum((f.mean(0) - old.mean(0)).pow(2).sum() for old in recent)  # expect: place
        loss = loss + 0.2 * slowness
    opt_enc.zero_grad()
    opt_head.zero_grad()
    loss.backward()  # expect: place
    opt_enc.step()
    if k % 2:
        opt_head.step()   # the head is trained at half the pace
    recent.append(f)  # expect: place

# %%
print("last loss", round(loss.item(), 4))
