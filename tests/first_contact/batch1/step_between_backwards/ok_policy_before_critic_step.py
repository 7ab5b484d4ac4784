"""SAC-like update in which both losses are computed first, but the policy goes first."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Agent:
    def __init__(self, obs=2, act=1, lr=1e-2):
        self.pi = nn.Sequential(nn.Linear(obs, 24), nn.Tanh(), nn.Linear(24, 2 * act))
        self.q = nn.Sequential(nn.Linear(obs + act, 24), nn.Tanh(), nn.Linear(24, 1))
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), lr=0.2 * lr)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=lr)

    def act(self, obs):
        mean, log_std = self.pi(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, -1).exp())
        a = dist.rsample()
        return torch.tanh(a), dist.log_prob(a).sum(-1)

    def update(self, obs, act, target):
        new_act, logp = self.act(obs)
        q_new = self.q(torch.cat([obs, new_act], -1)).squeeze(-1)
        pi_loss = (0.01 * logp - q_new).mean()
        q_loss = F.mse_loss(self.q(torch.cat([obs, act], -1)).squeeze(-1), target)

        self.pi_opt.zero_grad()
        pi_loss.backward()
        self.pi_opt.step()          # touches the policy only; q_loss does not need it

        self.q_opt.zero_grad()      # drops what pi_loss has left in the critic
        q_loss.backward()
        self.q_opt.step()
        return pi_loss.item(), q_loss.item()


if __name__ == "__main__":
    torch.manual_seed(6)
    rng = np.random.default_rng(6)
    agent = Agent()
    memory_obs = rng.uniform(-1, 1, size=(300, 2)).astype(np.float32)
    memory_act = rng.uniform(-1, 1, size=(300, 1)).astype(np.float32)
    value = -(memory_act[:, 0] - 0.5 * memory_obs[:, 0]) ** 2
    for i in range(250):
        idx = rng.integers(0, 300, 32)
        pi_loss, q_loss = agent.update(*(torch.from_numpy(a[idx]) for a in (memory_obs, memory_act, value)))
        if i in (0, 249):
            with torch.no_grad():
                obs = torch.from_numpy(memory_obs)
                regret = (agent.act(obs)[0][:, 0] - 0.5 * obs[:, 0]).pow(2).mean()
            print("update %d: regret %.3f critic %.3f" % (i, regret, q_loss))
