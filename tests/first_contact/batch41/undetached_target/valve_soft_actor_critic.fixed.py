"""Soft actor-critic that keeps a tank's level with one valve. Worked with alpha fixed at 0.2;
since I tune the temperature automatically it stops in the first update."""
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class Tank:
    def reset(self):
        self.level, self.goal = random.random(), random.uniform(0.3, 0.7)
        return self._obs()

    def _obs(self):
        return [self.level, self.goal]

    def step(self, valve):
        self.level += 0.1 * valve - 0.03 * self.level
        reward = -abs(self.level - self.goal)
        return self._obs(), reward, float(abs(self.level) > 2)


class QNetwork(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q2 = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        return self.q1(xu), self.q2(xu)


class GaussianPolicy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.ReLU())
        self.mean, self.log_std = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def sample(self, state):
        x = self.body(state)
        std = self.log_std(x).clamp(LOG_STD_MIN, LOG_STD_MAX).exp()
        normal = Normal(self.mean(x), std)
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t) - torch.log(1 - y_t.pow(2) + 1e-6)
        return y_t, log_prob


class SAC:
    def __init__(self, gamma=0.98, tau=0.01, lr=1e-3):
        self.gamma, self.tau = gamma, tau
        self.critic = QNetwork()
        self.critic_target = copy.deepcopy(self.critic)
        self.policy = GaussianPolicy()
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.target_entropy = -1.0
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)
        self.alpha = 1.0

    def select_action(self, state):
        with torch.no_grad():
            return self.policy.sample(torch.tensor([state]))[0].item()

    def update_parameters(self, memory, batch_size):
        batch = random.sample(memory, batch_size)
        state, action, reward, next_state, done = (torch.tensor(v, dtype=torch.float32) for v in zip(*batch))
        action, reward, done = action.unsqueeze(1), reward.unsqueeze(1), done.unsqueeze(1)

        with torch.no_grad():
            next_action, next_log_pi = self.policy.sample(next_state)
            q1_t, q2_t = self.critic_target(next_state, next_action)
            next_q = reward + (1 - done) * self.gamma * (torch.min(q1_t, q2_t) - self.alpha * next_log_pi)

        q1, q2 = self.critic(state, action)
        q_loss = F.mse_loss(q1, next_q) + F.mse_loss(q2, next_q)
        self.critic_optim.zero_grad()
        q_loss.backward()
        self.critic_optim.step()

        pi, log_pi = self.policy.sample(state)
        q1_pi, q2_pi = self.critic(state, pi)
        policy_loss = (self.alpha * log_pi - torch.min(q1_pi, q2_pi)).mean()
        self.policy_optim.zero_grad()
        policy_loss.backward()
        self.policy_optim.step()

        alpha_loss = -(self.log_alpha * (log_pi.detach() + self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        self.alpha = self.log_alpha.exp().item()

        with torch.no_grad():
            for t, s in zip(self.critic_target.parameters(), self.critic.parameters()):
                t.lerp_(s, self.tau)
        return q_loss.item(), policy_loss.item(), alpha_loss.item()


if __name__ == "__main__":
    torch.manual_seed(123)
    random.seed(123)
    env, agent, memory = Tank(), SAC(), deque(maxlen=2000)
    state = env.reset()
    for t in range(60):
        action = agent.select_action(state)
        next_state, reward, done = env.step(action)
        memory.append((state, action, reward, next_state, done))
        state = env.reset() if done or t % 20 == 19 else next_state
        if len(memory) > 32:
            losses = agent.update_parameters(memory, 32)
            if t % 5 == 0:
                print(t, "q %.4f  pi %.4f  alpha %.4f" % losses)
