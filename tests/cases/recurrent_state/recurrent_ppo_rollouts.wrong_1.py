from collections import namedtuple

import torch
import torch.nn as nn

Config = namedtuple("Config", "num_envs rollout updates gamma lr")
CFG = Config(num_envs=4, rollout=5, updates=4, gamma=0.95, lr=7e-4)


class VecCorridor:
    """Walk right to be rewarded."""

    def __init__(self, n):
        self.pos = torch.zeros(n)

    def observe(self):
        return torch.stack([self.pos, torch.sin(self.pos)], dim=1)

    def step(self, action):
        self.pos = self.pos + (action * 2 - 1)
        done = self.pos.abs() > 3
        reward = (self.pos > 3).float()
        self.pos = torch.where(done, torch.zeros_like(self.pos), self.pos)
        return self.observe(), reward, done.float()


class RecurrentAgent(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.core = nn.LSTMCell(2, 16)
        self.pi = nn.Linear(16, 2)
        self.v = nn.Linear(16, 1)
        self.state = (torch.zeros(n, 16), torch.zeros(n, 16))

    def mask(self, done):
        keep = (1 - done).unsqueeze(1)
        self.state = tuple(s * keep for s in self.state)

    def forward(self, obs):
        self.state = self.core(obs, self.state)
        h = self.state[0].detach()
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def collect(env, agent, obs):
    log = {"logp": [], "value": [], "reward": [], "done": [], "ent": []}
    for _ in range(CFG.rollout):
        dist, value = agent(obs)
        action = dist.sample()
        obs, reward, done = env.step(action)
        agent.mask(done)
        for key, item in zip(log, (dist.log_prob(action), value, reward, done, dist.entropy())):
            log[key].append(item)
    return {k: torch.stack(v) for k, v in log.items()}, obs


def loss_of(batch, bootstrap):
    ret, returns = bootstrap, []
    for r, d in zip(reversed(batch["reward"]), reversed(batch["done"])):
        ret = r + CFG.gamma * (1 - d) * ret
        returns.insert(0, ret)
    advantage = torch.stack(returns) - batch["value"]
    policy = -(batch["logp"] * advantage.detach()).mean()
    return policy + 0.5 * advantage.pow(2).mean() - 0.01 * batch["ent"].mean()


torch.manual_seed(0)
env, agent = VecCorridor(CFG.num_envs), RecurrentAgent(CFG.num_envs)
optimizer = torch.optim.RMSprop(agent.parameters(), lr=CFG.lr)
obs = env.observe()
for update in range(CFG.updates):
    batch, obs = collect(env, agent, obs)
    with torch.no_grad():
        saved = agent.state
        _, bootstrap = agent(obs)
        agent.state = saved
    loss = loss_of(batch, bootstrap)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(update, f"{batch['reward'].mean():.3f}")
