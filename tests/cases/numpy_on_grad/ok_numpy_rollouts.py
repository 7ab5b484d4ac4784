# expect: pattern = none
# expect: raises = nothing
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(2)
torch.manual_seed(2)
q_net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.RMSprop(q_net.parameters(), lr=1e-3)
memory = []
state = rng.normal(size=3).astype(np.float32)
for t in range(30):
    with torch.no_grad():
        action = int(q_net(torch.from_numpy(state)).numpy().argmax())
    nxt = (0.9 * state + 0.1 * (action - 0.5) + 0.1 * rng.normal(size=3)).astype(np.float32)
    memory.append((state, action, -float(np.abs(nxt).sum()), nxt))
    state = nxt
for update in range(4):
    s, a, r, n = zip(*(memory[i] for i in rng.integers(0, 30, size=10)))
    with torch.no_grad():
        goal = torch.tensor(r) + 0.9 * q_net(torch.tensor(np.array(n))).max(1).values
    q = q_net(torch.tensor(np.array(s)))[torch.arange(10), list(a)]
    loss = nn.functional.huber_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(update, loss.item())
