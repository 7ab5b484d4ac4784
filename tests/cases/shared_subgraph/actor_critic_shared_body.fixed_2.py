# Advantage actor-critic on a bandit with context; actor and critic share a body.
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=4, n_actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh())
        self.actor = nn.Linear(32, n_actions)
        self.critic = nn.Linear(32, 1)

    def forward(self, obs):
        latent = self.body(obs)
        return Categorical(logits=self.actor(latent)), self.critic(latent).squeeze(-1)


def reward_fn(obs, action):
    return (obs[:, :3].argmax(1) == action).float()


torch.manual_seed(123)
ac = ActorCritic()
actor_opt = optim.Adam([*ac.body.parameters(), *ac.actor.parameters()], lr=1e-3)
critic_opt = optim.Adam(ac.critic.parameters(), lr=1e-2)

for episode in range(5):
    obs = torch.randn(16, 4)
    dist, value = ac(obs)
    action = dist.sample()
    advantage = reward_fn(obs, action) - value
    policy_loss = -(dist.log_prob(action) * advantage.detach()).mean() - 0.01 * dist.entropy().mean()
    value_loss = advantage.pow(2).mean()

    actor_opt.zero_grad()
    critic_opt.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    actor_opt.step()
    critic_opt.step()
