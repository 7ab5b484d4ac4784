"""Recurrent actor-critic on batched T-mazes: a cue at the start tells where to turn at the end."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

ENVS, SEGMENT, CORRIDOR, GAMMA, LAMBDA = 12, 8, 5, 0.95, 0.9


class TMazes:
    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.pos, self.cue = np.zeros(n, dtype=int), rng.integers(2, size=n)

    def observe(self):
        obs = np.zeros((self.n, 3), dtype=np.float32)
        start = self.pos == 0
        obs[start, self.cue[start]] = 1.0
        obs[:, 2] = self.pos / CORRIDOR
        return torch.from_numpy(obs)

    def step(self, actions):
        done = self.pos == CORRIDOR
        reward = np.where(done, np.where(actions == self.cue, 1.0, -1.0), 0.0)
        self.pos = np.where(done, 0, self.pos + 1)
        self.cue = np.where(done, self.rng.integers(2, size=self.n), self.cue)
        return self.observe(), torch.from_numpy(reward).float(), torch.from_numpy(done)


class RunningScale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("sq", torch.ones(size))

    def forward(self, obs):
        self.mean.lerp_(obs.mean(0), 0.05)
        self.sq.lerp_(obs.pow(2).mean(0), 0.05)
        return (obs - self.mean) / (self.sq - self.mean**2).clamp_(min=0.05).sqrt_()


class Core(nn.Module):
    def __init__(self, n_obs=3, width=24):
        super().__init__()
        self.scale = RunningScale(n_obs)
        self.embed = nn.Sequential(nn.Linear(n_obs, width), nn.ReLU(inplace=True))
        self.cell = nn.GRUCell(width, width)
        self.policy = nn.Linear(width, 2)

    def forward(self, obs, hidden):
        hidden = self.cell(self.embed(self.scale(obs)), hidden)
        return Categorical(logits=self.policy(hidden)), hidden


class Learner:
    def __init__(self, seed):
        self.core, self.critic = Core(), nn.Linear(24, 1)
        self.core_opt = torch.optim.RMSprop(self.core.parameters(), lr=2e-3)
        self.critic_opt = torch.optim.RMSprop(self.critic.parameters(), lr=5e-3)
        self.mazes = TMazes(ENVS, np.random.default_rng(seed))
        self.obs = self.mazes.observe()
        self.hidden, self.score = torch.zeros(ENVS, 24), torch.zeros(())

    def rollout(self):
        self.hidden = self.hidden.detach()
        memory = {"logp": [], "value": [], "entropy": [], "reward": [], "alive": []}
        for _ in range(SEGMENT):
            dist, hidden = self.core(self.obs, self.hidden)
            action = dist.sample()
            self.obs, reward, done = self.mazes.step(action.numpy())
            alive = (~done).float()
            memory["logp"].append(dist.log_prob(action))
            memory["value"].append(self.critic(hidden).squeeze(-1))
            memory["entropy"].append(dist.entropy())
            memory["reward"].append(reward)
            memory["alive"].append(alive)
            self.hidden = hidden * alive.unsqueeze(-1)
        return {name: torch.stack(rows) for name, rows in memory.items()}

    @torch.no_grad()
    def advantages(self, seg):
        last = self.critic(self.core(self.obs, self.hidden)[1]).squeeze(-1)
        following = torch.cat([seg["value"][1:], last.unsqueeze(0)])
        adv = seg["reward"] + GAMMA * seg["alive"] * following - seg["value"]
        for t in reversed(range(SEGMENT - 1)):
            adv[t] += GAMMA * LAMBDA * seg["alive"][t] * adv[t + 1]
        return adv

    def update(self):
        seg = self.rollout()
        adv = self.advantages(seg)
        policy_loss = -(seg["logp"] * adv).mean() - 0.02 * seg["entropy"].mean()
        value_loss = 0.5 * F.mse_loss(seg["value"], adv + seg["value"].detach())
        self.core_opt.zero_grad()
        self.critic_opt.zero_grad()
        policy_loss.backward(retain_graph=True)
        value_loss.backward()
        nn.utils.clip_grad_norm_(self.core.parameters(), 0.5)
        self.core_opt.step()
        self.critic_opt.step()
        self.score += seg["reward"].sum()


if __name__ == "__main__":
    torch.manual_seed(8)
    learner = Learner(seed=8)
    for update in range(30):
        learner.update()
        if update % 10 == 9:
            print(f"update {update + 1}: reward so far {learner.score.item():.0f}")
