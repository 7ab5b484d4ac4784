"""
Assignment 2b: REINFORCE with a learned baseline on the warehouse grid.

Part 1  collect a trajectory              (given)
Part 2  returns-to-go                     (given)
Part 3  policy gradient and baseline      TODO -> done, see train_on
"""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SIZE = 5
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Warehouse:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.pos = self.rng.randint(0, SIZE, 2)
        self.shelf = self.rng.randint(0, SIZE, 2)
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.concatenate([self.pos, self.shelf, self.shelf - self.pos]).astype(np.float32) / SIZE

    def step(self, action):
        self.pos = np.clip(self.pos + MOVES[action], 0, SIZE - 1)
        self.t += 1
        found = (self.pos == self.shelf).all()
        return self._obs(), 1.0 if found else -0.05, found or self.t >= 20


policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4), nn.Softmax(dim=-1))
baseline = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))


def collect(env):
    obs, acts, rews = [], [], []
    o, done = env.reset(), False
    while not done:
        with torch.no_grad():
            a = Categorical(policy(torch.from_numpy(o))).sample().item()
        obs.append(o)
        acts.append(a)
        o, r, done = env.step(a)
        rews.append(r)
    return torch.from_numpy(np.stack(obs)), torch.tensor(acts), rews


def returns_to_go(rews, gamma=0.95):
    out, g = [], 0.0
    for r in reversed(rews):
        g = r + gamma * g
        out.append(g)
    return torch.tensor(out[::-1])


def train_on(trajectories, policy_opt, baseline_opt):
    policy_opt.zero_grad()
    baseline_opt.zero_grad()
    for obs, acts, rews in trajectories:
        G = returns_to_go(rews)
        values = baseline(obs).squeeze(-1)
        adv = G - values.detach()
        log_probs = Categorical(policy(obs)).log_prob(acts).detach().requires_grad_()
        # sum over t of  A_t * grad log pi(a_t | s_t)
        for t in range(len(acts)):
            loss_t = -adv[t] * log_probs[t]
            loss_t.backward()
        ((values - G) ** 2).mean().backward()
    policy_opt.step()
    baseline_opt.step()


if __name__ == "__main__":
    torch.manual_seed(21)
    for net in (policy, baseline):
        for m in net:
            if hasattr(m, "reset_parameters"):
                m.reset_parameters()
    env = Warehouse(np.random.RandomState(21))
    policy_opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline_opt = torch.optim.Adam(baseline.parameters(), lr=1e-2)
    for it in range(8):
        batch = [collect(env) for _ in range(6)]
        train_on(batch, policy_opt, baseline_opt)
        print("iteration %d: mean return %.3f, mean length %.1f" % (
            it, np.mean([sum(r) for _, _, r in batch]), np.mean([len(r) for _, _, r in batch])))
