"""Recurrent advantage actor-critic on a T-maze style memory task, several mazes in parallel."""
from collections import deque
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class Options:
    n_envs: int = 12
    corridor: int = 4
    n_steps: int = 5
    updates: int = 30
    hidden: int = 24
    gamma: float = 0.95
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    lr: float = 4e-3
    seed: int = 64


@dataclass
class Segment:
    log_probs: list = field(default_factory=list)
    values: list = field(default_factory=list)
    entropies: list = field(default_factory=list)
    rewards: list = field(default_factory=list)
    alive: list = field(default_factory=list)


class MemoryMazes:
    """The first observation tells left or right; it must be recalled at the corridor's end."""

    def __init__(self, opt: Options):
        self.n, self.length = opt.n_envs, opt.corridor
        self.pos = torch.zeros(self.n, dtype=torch.long)
        self.side = torch.randint(2, (self.n,))

    def observe(self):
        obs = torch.zeros(self.n, 4)
        obs[torch.arange(self.n), self.side] = (self.pos == 0).float()
        obs[:, 2] = (self.pos == self.length).float()
        obs[:, 3] = 1.0
        return obs

    def step(self, actions):
        at_end = self.pos == self.length
        correct = actions == self.side
        reward = torch.where(at_end, torch.where(correct, 1.0, -1.0), torch.where(actions == 2, 0.0, -0.1))
        self.pos = torch.where(actions == 2, (self.pos + 1).clamp(max=self.length), self.pos)
        self.pos[at_end] = 0
        self.side = torch.where(at_end, torch.randint(2, (self.n,)), self.side)
        return self.observe(), reward, at_end


class RecurrentActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden):
        super().__init__()
        self.inp = nn.Linear(obs_dim, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.pi = nn.Linear(hidden, n_actions)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs, h):
        h = self.cell(torch.tanh(self.inp(obs)), h)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1), h


def collect(net, envs, obs, h, n_steps):
    seg = Segment()
    for _ in range(n_steps):
        dist, value, h = net(obs, h)
        action = dist.sample()
        obs, reward, done = envs.step(action)
        alive = 1.0 - done.float()
        h = h * alive.unsqueeze(1)
        seg.log_probs.append(dist.log_prob(action))
        seg.values.append(value)
        seg.entropies.append(dist.entropy())
        seg.rewards.append(reward)
        seg.alive.append(alive)
    return seg, obs, h


def n_step_returns(seg, bootstrap, gamma):
    returns, running = [], bootstrap
    for reward, alive in zip(reversed(seg.rewards), reversed(seg.alive)):
        running = reward + gamma * alive * running
        returns.append(running)
    return torch.stack(returns[::-1])


def segment_loss(seg, returns, opt):
    values = torch.stack(seg.values)
    advantage = returns - values
    policy_loss = -(torch.stack(seg.log_probs) * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    entropy = torch.stack(seg.entropies).mean()
    return policy_loss + opt.value_coef * value_loss - opt.entropy_coef * entropy, entropy


def main():
    opt = Options()
    torch.manual_seed(opt.seed)
    envs = MemoryMazes(opt)
    net = RecurrentActorCritic(4, 3, opt.hidden)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=opt.lr, alpha=0.99, eps=1e-5)
    window = deque(maxlen=10)
    average = 0.0
    obs, h = envs.observe(), torch.zeros(opt.n_envs, opt.hidden)
    for update in range(opt.updates):
        seg, obs, h = collect(net, envs, obs, h.detach(), opt.n_steps)
        with torch.no_grad():
            _, bootstrap, _ = net(obs, h)
        loss, entropy = segment_loss(seg, n_step_returns(seg, bootstrap, opt.gamma), opt)

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()

        window.append(torch.stack(seg.rewards).mean().item())
        average = 0.95 * average + 0.05 * window[-1]
        if (update + 1) % 10 == 0:
            print(f"update {update + 1:3d} loss {loss.item():.4f} entropy {entropy.item():.3f} "
                  f"reward {sum(window) / len(window):.3f} (ema {average:.3f})")


if __name__ == "__main__":
    main()
