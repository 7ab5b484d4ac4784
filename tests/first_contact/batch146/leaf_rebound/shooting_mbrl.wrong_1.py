"""Model-based RL on a cart with drag: fit a dynamics model, plan by gradient shooting, repeat."""
import collections
import logging

import numpy as np
import torch
from torch import nn

log = logging.getLogger(__name__)
Transition = collections.namedtuple("Transition", "obs act next_obs")


class CartEnv:
    dt, drag = 0.1, 0.3

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = np.array([self.rng.uniform(-1.5, -0.5), 0.0])
        return self.state.copy()

    def step(self, force):
        x, v = self.state
        v = v + self.dt * (float(np.clip(force, -1, 1)) - self.drag * v * abs(v))
        self.state = np.array([x + self.dt * v, v])
        return self.state.copy(), -(self.state[0] ** 2 + 0.05 * force ** 2)


class ReplayBuffer:
    def __init__(self):
        self.data = []

    def add(self, obs, act, next_obs):
        self.data.append(Transition(obs, np.atleast_1d(act), next_obs))

    def sample(self, n, rng):
        picks = [self.data[i] for i in rng.randint(0, len(self.data), n)]
        return [torch.as_tensor(np.stack(part), dtype=torch.float32) for part in zip(*picks)]


class DynamicsModel(nn.Module):
    def __init__(self, obs_dim=2, act_dim=1, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(obs_dim + act_dim, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, obs_dim))

    def forward(self, obs, act):
        return obs + 0.1 * self.net(torch.cat([obs, act], dim=-1))


class ShootingPlanner:
    def __init__(self, model, horizon=10, iters=6, lr=0.5):
        self.model, self.horizon, self.iters, self.lr = model, horizon, iters, lr
        self.reset()

    def reset(self):
        self.plan = torch.zeros(self.horizon, 1, requires_grad=True)

    def cost(self, obs):
        total = 0.0
        for act in self.plan:
            obs = self.model(obs, act)
            total = total + obs[0] ** 2 + 0.05 * act.pow(2).sum()
        return total

    def act(self, obs):
        obs = torch.as_tensor(obs, dtype=torch.float32)
        for _ in range(self.iters):
            cost = self.cost(obs)
            self.plan.retain_grad()
            cost.backward()
            self.plan = torch.clamp(self.plan - self.lr * self.plan.grad, -1, 1)
        first = self.plan[0].item()
        shifted = torch.cat([self.plan[1:], torch.zeros(1, 1)]).detach()
        self.plan = shifted.requires_grad_()
        return first


class Agent:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.env = CartEnv(self.rng)
        self.buffer = ReplayBuffer()
        self.model = DynamicsModel()
        self.planner = ShootingPlanner(self.model)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=5e-3)

    def fit_model(self, updates=20, batch=32):
        for _ in range(updates):
            obs, act, nxt = self.buffer.sample(batch, self.rng)
            loss = (self.model(obs, act) - nxt).pow(2).sum(-1).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    def episode(self, steps, policy):
        obs, ret = self.env.reset(), 0.0
        for _ in range(steps):
            action = policy(obs)
            nxt, reward = self.env.step(action)
            self.buffer.add(obs, action, nxt)
            obs, ret = nxt, ret + reward
        return ret

    def run(self, rounds=3, steps=12):
        self.episode(40, lambda obs: self.rng.uniform(-1, 1))
        for i in range(rounds):
            model_loss = self.fit_model()
            self.planner.reset()
            ret = self.episode(steps, self.planner.act)
            log.info("round %d model loss %.5f return %.2f", i, model_loss, ret)
        self.fit_model()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(2)
    Agent(seed=2).run()
