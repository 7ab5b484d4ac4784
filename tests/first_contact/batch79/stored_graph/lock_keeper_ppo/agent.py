import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F


class Keeper(nn.Module):
    def __init__(self, views, actions, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(views, width), nn.Tanh())
        self.policy = nn.Linear(width, actions)
        self.critic = nn.Linear(width, 1)

    def forward(self, view):
        h = self.body(view)
        return Categorical(logits=self.policy(h)), self.critic(h).squeeze(-1)

    def act(self, view):
        choice, value = self(view)  # expect: place
        with torch.no_grad():
            action = choice.sample()
            log_prob = choice.log_prob(action)
        return action, log_prob, value

    @torch.no_grad()
    def value_of(self, view):
        return self(view)[1]


def ppo_loss(keeper, batch, clip=0.2, value_weight=0.5, entropy_weight=0.01):
    choice, value = keeper(batch["view"])
    ratio = (choice.log_prob(batch["action"]) - batch["log_prob"]).exp()
    advantage = batch["advantage"]
    surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    critic = F.mse_loss(value, batch["returns"])
    return -surrogate.mean() + value_weight * critic - entropy_weight * choice.entropy().mean()
