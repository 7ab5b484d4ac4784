# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = policy_loss
import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


def mlp(n_in, n_out, width=24):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, n_out))


class TwinnedQ(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.Q1 = mlp(n_state + n_action, 1)
        self.Q2 = mlp(n_state + n_action, 1)

    def forward(self, states, actions):
        x = torch.cat([states, actions], dim=1)
        return self.Q1(x), self.Q2(x)


class GaussianPolicy(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.net = mlp(n_state, 2 * n_action)

    def sample(self, states):
        mean, log_std = self.net(states).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        xs = dist.rsample()
        actions = torch.tanh(xs)
        log_probs = dist.log_prob(xs) - torch.log(1 - actions.pow(2) + 1e-6)
        return actions, -log_probs.sum(dim=1, keepdim=True)


def update_params(optim, loss, network, grad_clip=None):
    optim.zero_grad()
    loss.backward()  # expect: place
    if grad_clip is not None:
        nn.utils.clip_grad_norm_(network.parameters(), grad_clip)
    optim.step()  # expect: place


class FeedTank:
    """Fed-batch fermentation: biomass, substrate, product; the action is the feed rate."""

    def reset(self, rng):
        self.x = np.array([0.2, 1.0, 0.0]) + 0.05 * rng.standard_normal(3)
        return self.x.astype(np.float32)

    def step(self, a):
        feed = 0.5 * (float(a[0]) + 1)
        mu = 0.4 * self.x[1] / (0.3 + self.x[1])
        self.x = self.x + 0.2 * np.array([mu * self.x[0], feed - 2 * mu * self.x[0], 0.3 * self.x[0]])
        self.x = np.clip(self.x, 0.0, 5.0)
        return self.x.astype(np.float32), float(self.x[2] - 0.1 * feed)


class SacAgent:
    def __init__(self, env, args):
        self.env, self.args = env, args
        self.rng = np.random.default_rng(args.seed)
        self.policy = GaussianPolicy(3, 1)
        self.critic = TwinnedQ(3, 1)
        self.critic_target = copy.deepcopy(self.critic).eval()
        for p in self.critic_target.parameters():
            p.requires_grad = False
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=args.lr)
        self.q1_optim = torch.optim.Adam(self.critic.Q1.parameters(), lr=args.lr)
        self.q2_optim = torch.optim.Adam(self.critic.Q2.parameters(), lr=args.lr)
        self.alpha = 0.2
        self.memory = []

    def explore(self, state):
        with torch.no_grad():
            action, _ = self.policy.sample(torch.from_numpy(state).unsqueeze(0))
        return action.numpy()[0]

    def sample(self):
        idx = self.rng.integers(len(self.memory), size=self.args.batch_size)
        columns = zip(*[self.memory[i] for i in idx])
        return [torch.from_numpy(np.stack(c).astype(np.float32)) for c in columns]

    def calc_critic_loss(self, batch):
        states, actions, rewards, next_states = batch
        q1, q2 = self.critic(states, actions)
        with torch.no_grad():
            next_actions, next_entropies = self.policy.sample(next_states)
            n1, n2 = self.critic_target(next_states, next_actions)
            target = rewards + self.args.gamma * (torch.min(n1, n2) + self.alpha * next_entropies)
        return F.mse_loss(q1, target), F.mse_loss(q2, target)

    def calc_policy_loss(self, batch):
        states = batch[0]
        sampled, entropy = self.policy.sample(states)
        q1, q2 = self.critic(states, sampled)  # expect: place
        return -(torch.min(q1, q2) + self.alpha * entropy).mean(), entropy

    def learn(self):
        batch = self.sample()
        q1_loss, q2_loss = self.calc_critic_loss(batch)
        policy_loss, entropies = self.calc_policy_loss(batch)  # expect: place

        update_params(self.q1_optim, q1_loss, self.critic.Q1, self.args.grad_clip)  # expect: place
        update_params(self.q2_optim, q2_loss, self.critic.Q2, self.args.grad_clip)  # expect: place
        update_params(self.policy_optim, policy_loss, self.policy, self.args.grad_clip)  # expect: place

        with torch.no_grad():
            for t, s in zip(self.critic_target.parameters(), self.critic.parameters()):
                t.lerp_(s, 0.01)
        return q1_loss.item(), policy_loss.item(), entropies.mean().item()

    def run(self):
        state = self.env.reset(self.rng)
        for step in range(self.args.num_steps):
            action = self.explore(state)
            next_state, reward = self.env.step(action)
            self.memory.append((state, action, np.array([reward]), next_state))
            state = next_state
            if step % 20 == 19:
                state = self.env.reset(self.rng)
            if len(self.memory) > self.args.batch_size:
                print(step, *("%.3f" % v for v in self.learn()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--grad_clip", type=float, default=None)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--num_steps", type=int, default=24)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    SacAgent(FeedTank(), args).run()
