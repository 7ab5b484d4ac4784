"""Advantage actor-critic with a curiosity module on a sparse-reward corridor."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


LENGTH, HORIZON, UPDATES, GAMMA, SEED = 8, 24, 15, 0.97, 3


class Corridor:
    """Walk right to the end for a reward of 1; slipping happens now and then."""

    def __init__(self, length, rng):
        self.length, self.rng = length, rng
        self.reset()

    def reset(self):
        self.pos = 0
        return self.observe()

    def observe(self):
        return torch.eye(self.length)[self.pos]

    def step(self, action):
        move = (1 if action == 1 else -1) * (-1 if self.rng.random() < 0.1 else 1)
        self.pos = int(np.clip(self.pos + move, 0, self.length - 1))
        done = self.pos == self.length - 1
        return (self.reset() if done else self.observe()), float(done), done


class Agent(nn.Module):
    def __init__(self, n_obs, n_actions=2, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, width), nn.Tanh())
        self.policy = nn.Linear(width, n_actions)
        self.value = nn.Linear(width, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


class Curiosity(nn.Module):
    """Predicts the next observation; whatever it predicts badly is interesting."""

    def __init__(self, n_obs, n_actions=2, eta=0.5):
        super().__init__()
        self.n_actions, self.eta = n_actions, eta
        self.net = nn.Sequential(nn.Linear(n_obs + n_actions, 32), nn.ReLU(), nn.Linear(32, n_obs))

    def forward(self, obs, actions, next_obs):
        inputs = torch.cat([obs, F.one_hot(actions, self.n_actions).float()], dim=-1)
        surprise = (self.net(inputs) - next_obs).pow(2).sum(dim=-1)
        bonus = self.eta * surprise
        return bonus, surprise.mean()


def collect(env, agent, obs, horizon):
    steps = []
    for _ in range(horizon):
        with torch.no_grad():
            action = agent(obs)[0].sample()
        nxt, reward, done = env.step(action.item())
        steps.append((obs, action, torch.tensor(reward), nxt, torch.tensor(float(done))))
        obs = nxt
    return [torch.stack(column) for column in zip(*steps)], obs


def discounted(rewards, dones, last_value, gamma):
    running, out = last_value, []
    for r, d in zip(reversed(rewards.unbind()), reversed(dones.unbind())):
        running = r + gamma * running * (1.0 - d)
        out.append(running)
    return torch.stack(out[::-1])


def main():
    torch.manual_seed(SEED)
    env = Corridor(LENGTH, np.random.default_rng(SEED))
    agent, icm = Agent(LENGTH), Curiosity(LENGTH)
    agent_opt = torch.optim.Adam(agent.parameters(), lr=3e-3)
    icm_opt = torch.optim.Adam(icm.parameters(), lr=1e-3)
    obs = env.reset()
    for update in range(UPDATES):
        (o, a, r, o2, d), obs = collect(env, agent, obs, HORIZON)
        with torch.no_grad():
            last_value = agent(obs)[1]
        bonus, dyn_loss = icm(o, a, o2)
        returns = discounted(r + bonus, d, last_value, GAMMA)
        dist, values = agent(o)
        advantage = (returns - values).detach()
        actor_loss = -(dist.log_prob(a) * advantage).mean() - 0.01 * dist.entropy().mean()
        critic_loss = F.mse_loss(values.detach(), returns)
        agent_loss = actor_loss + 0.5 * critic_loss
        agent_opt.zero_grad()
        icm_opt.zero_grad()
        agent_loss.backward()
        dyn_loss.backward()
        agent_opt.step()
        icm_opt.step()
        if update % 5 == 0:
            print(f"{update:3d} reward {r.sum().item():.0f} bonus {bonus.mean().item():.3f}")


if __name__ == "__main__":
    main()
