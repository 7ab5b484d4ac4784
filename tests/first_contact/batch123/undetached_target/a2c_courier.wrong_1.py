import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
np.random.seed(5)


class CourierEnv:
    """A courier on a 5x5 grid looks for the depot. Four moves, -0.1 a step, +1 on arrival."""

    MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, size=5, limit=15):
        self.size, self.limit = size, limit

    def reset(self):
        self.pos = np.random.randint(0, self.size, 2)
        self.depot = np.array([4, 2])
        self.clock = 0
        return self._obs()

    def _obs(self):
        return torch.tensor(np.concatenate([self.pos, self.depot - self.pos]) / self.size, dtype=torch.float32)

    def step(self, action):
        self.pos = np.clip(self.pos + self.MOVES[action], 0, self.size - 1)
        self.clock += 1
        arrived = bool((self.pos == self.depot).all())
        return self._obs(), 1.0 if arrived else -0.1, arrived or self.clock >= self.limit


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.net(obs))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


env = CourierEnv()
actor, critic = Actor(), Critic()
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
GAMMA, ENTROPY = 0.95, 0.01


def run_episode():
    obs, done, log = env.reset(), False, []
    while not done:
        with torch.no_grad():
            action = actor(obs).sample().item()
        nxt, reward, done = env.step(action)
        log.append((obs, action, reward))
        obs = nxt
    return log


def discounted(rewards):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + GAMMA * acc
        out.insert(0, acc)
    return torch.tensor(out)


scores = []
for episode in range(40):
    trajectory = run_episode()
    states = torch.stack([step[0] for step in trajectory])
    actions = torch.tensor([step[1] for step in trajectory])
    returns = discounted([step[2] for step in trajectory])

    dist = actor(states)
    values = critic(states).detach()
    advantage = returns - values

    policy_loss = -(dist.log_prob(actions) * advantage).mean()
    value_loss = F.mse_loss(values, returns)
    loss = policy_loss + 0.5 * value_loss - ENTROPY * dist.entropy().mean()

    actor_opt.zero_grad()
    critic_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    critic_opt.step()

    scores.append(sum(step[2] for step in trajectory))
    if (episode + 1) % 10 == 0:
        print("episode %3d | mean score %.2f | value loss %.3f" % (episode + 1, np.mean(scores[-10:]), value_loss.item()))
