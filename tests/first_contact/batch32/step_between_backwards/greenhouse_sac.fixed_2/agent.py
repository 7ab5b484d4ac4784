import copy

import torch
import torch.nn.functional as F
from torch.optim import Adam

from nets import GaussianPolicy, TwinQ


def update_params(optim, loss):
    optim.zero_grad()
    loss.backward()
    optim.step()


def soft_update(target, source, tau):
    for t, s in zip(target.parameters(), source.parameters()):
        t.data.copy_(t.data * (1.0 - tau) + s.data * tau)


class SacAgent:
    def __init__(self, obs_dim, act_dim, lr=1e-3, gamma=0.97, tau=0.02):
        self.policy = GaussianPolicy(obs_dim, act_dim)
        self.critic = TwinQ(obs_dim, act_dim)
        self.critic_target = copy.deepcopy(self.critic).eval()
        for p in self.critic_target.parameters():
            p.requires_grad = False

        self.policy_optim = Adam(self.policy.parameters(), lr=lr)
        self.q1_optim = Adam(self.critic.Q1.parameters(), lr=lr)
        self.q2_optim = Adam(self.critic.Q2.parameters(), lr=lr)

        self.target_entropy = -act_dim
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optim = Adam([self.log_alpha], lr=lr)
        self.alpha = self.log_alpha.detach().exp()
        self.gamma, self.tau = gamma, tau

    def calc_target_q(self, rewards, next_obs, dones):
        with torch.no_grad():
            next_act, next_entropy = self.policy.sample(next_obs)
            q1, q2 = self.critic_target(next_obs, next_act)
            next_q = torch.min(q1, q2) + self.alpha * next_entropy
        return rewards + (1.0 - dones) * self.gamma * next_q

    def calc_critic_loss(self, batch):
        obs, act, rewards, next_obs, dones = batch
        curr_q1, curr_q2 = self.critic(obs, act)
        target_q = self.calc_target_q(rewards, next_obs, dones)
        return F.mse_loss(curr_q1, target_q), F.mse_loss(curr_q2, target_q)

    def calc_policy_loss(self, batch):
        obs = batch[0]
        act, entropy = self.policy.sample(obs)
        q1, q2 = self.critic(obs, act)
        q = torch.min(q1, q2)
        return -(q + self.alpha * entropy).mean(), entropy

    def calc_entropy_loss(self, entropy):
        return -(self.log_alpha * (self.target_entropy - entropy).detach()).mean()

    def learn(self, batch):
        q1_loss, q2_loss = self.calc_critic_loss(batch)
        policy_loss, entropy = self.calc_policy_loss(batch)
        entropy_loss = self.calc_entropy_loss(entropy)

        update_params(self.policy_optim, policy_loss)
        update_params(self.q1_optim, q1_loss)
        update_params(self.q2_optim, q2_loss)
        update_params(self.alpha_optim, entropy_loss)

        self.alpha = self.log_alpha.detach().exp()
        soft_update(self.critic_target, self.critic, self.tau)
        return q1_loss.item(), policy_loss.item()
