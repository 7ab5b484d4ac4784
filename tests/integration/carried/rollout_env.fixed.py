import torch
from torch import nn
from types import SimpleNamespace

class Env:
    def __init__(self):
        self.pos = torch.zeros(2)
    def act(self, a):
        self.pos = self.pos * 0.9 + torch.tanh(a) * self.pos.cos()
        return SimpleNamespace(obs=self.pos, reward=-(self.pos ** 2).sum())

policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
torch.manual_seed(0)
for p in policy.parameters():
    nn.init.normal_(p, std=0.3)
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Env()
obs = env.pos
for episode in range(4):
    env.pos = obs = obs.detach()
    ret = 0.0
    for t in range(3):
        out = env.act(policy(obs))
        obs = out.obs
        ret = ret + out.reward
    opt.zero_grad()
    (-ret).backward()
    opt.step()
