# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = policy_loss
import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

CFG = {"obs": 3, "act": 2, "hid": 24, "gamma": 0.98, "tau": 0.02, "lr": 3e-3, "batch": 24, "updates": 8}


class Replay:
    def __init__(self, capacity):
        self.capacity, self.rows = capacity, []

    def push(self, *row):
        if len(self.rows) >= self.capacity:
            self.rows.pop(0)
        self.rows.append(row)

    def sample(self, n):
        picked = random.sample(self.rows, n)
        return [torch.as_tensor(np.stack(col), dtype=torch.float32) for col in zip(*picked)]


class GaussianPolicy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg["obs"], cfg["hid"]), nn.ReLU())
        self.mean = nn.Linear(cfg["hid"], cfg["act"])
        self.log_std = nn.Linear(cfg["hid"], cfg["act"])

    def sample(self, obs):
        h = self.trunk(obs)
        dist = Normal(self.mean(h), self.log_std(h).clamp(-5, 2).exp())
        u = dist.rsample()
        a = torch.tanh(u)
        logp = (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return a, logp


class TwinQ(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        n = cfg["obs"] + cfg["act"]
        self.q1 = nn.Sequential(nn.Linear(n, cfg["hid"]), nn.ReLU(), nn.Linear(cfg["hid"], 1))
        self.q2 = nn.Sequential(nn.Linear(n, cfg["hid"]), nn.ReLU(), nn.Linear(cfg["hid"], 1))

    def forward(self, obs, act):
        xu = torch.cat([obs, act], -1)
        return self.q1(xu), self.q2(xu)


class SACAgent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy, self.critic = GaussianPolicy(cfg), TwinQ(cfg)
        self.critic_target = copy.deepcopy(self.critic)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=cfg["lr"])
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=cfg["lr"])
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=cfg["lr"])

    def update_parameters(self, memory):
        obs, act, rew, nxt, done = memory.sample(self.cfg["batch"])
        alpha = self.log_alpha.exp().detach()

        with torch.no_grad():
            na, nlogp = self.policy.sample(nxt)
            target_q = torch.min(*self.critic_target(nxt, na)) - alpha * nlogp
            backup = rew + self.cfg["gamma"] * (1 - done) * target_q

        q1, q2 = self.critic(obs, act)
        critic_loss = F.mse_loss(q1, backup) + F.mse_loss(q2, backup)

        pi, logp = self.policy.sample(obs)
        min_q = torch.min(*self.critic(obs, pi))  # expect: place
        policy_loss = (alpha * logp - min_q).mean()  # expect: place
        alpha_loss = -(self.log_alpha * (logp.detach() - self.cfg["act"])).mean()

        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()  # expect: place

        self.policy_optim.zero_grad()
        policy_loss.backward()  # expect: place
        self.policy_optim.step()

        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()

        with torch.no_grad():
            for p, tp in zip(self.critic.parameters(), self.critic_target.parameters()):
                tp.mul_(1 - self.cfg["tau"]).add_(self.cfg["tau"] * p)
        return critic_loss.item(), policy_loss.item()


if __name__ == "__main__":
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    agent, memory = SACAgent(CFG), Replay(200)
    state = np.random.randn(3)
    for _ in range(80):
        action = np.random.uniform(-1, 1, 2)
        nxt = 0.9 * state + 0.1 * np.r_[action, 0]
        memory.push(state, action, [-np.abs(state).sum()], nxt, [0.0])
        state = nxt
    for i in range(CFG["updates"]):
        print("update %d: critic %.3f policy %.3f" % (i, *agent.update_parameters(memory)))
