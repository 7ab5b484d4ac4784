# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantages, values, adv
"""Multi-agent PPO, shared actor and a central critic (small re-implementation)."""
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class Args:
    n_agents: int = 3
    obs_dim: int = 4
    n_actions: int = 3
    mini_epochs: int = 3
    n_iters: int = 4
    eps_clip: float = 0.2
    lr: float = 5e-3
    seed: int = 42
    hidden: list = field(default_factory=lambda: [24])


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class MAPPO:
    def __init__(self, args):
        self.args = args
        self.actor = mlp([args.obs_dim, *args.hidden, args.n_actions])
        self.critic = mlp([args.obs_dim * args.n_agents, *args.hidden, 1])
        self.actor_optimiser = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.critic_optimiser = torch.optim.Adam(self.critic.parameters(), lr=args.lr)

    def collect(self, batch=20):
        obs = torch.randn(batch, self.args.n_agents, self.args.obs_dim)
        with torch.no_grad():
            pi = Categorical(logits=self.actor(obs))
            actions = pi.sample()
            old = pi.log_prob(actions)
        team = (actions == obs[..., :3].argmax(-1)).float().mean(1, keepdim=True)
        return obs, actions, old, team

    def train(self, obs, actions, old_log_pi, rewards):
        state = obs.flatten(1)
        values = self.critic(state)  # expect: place
        advantages = rewards - values  # expect: place

        for _ in range(self.args.mini_epochs):
            pi = Categorical(logits=self.actor(obs))
            ratios = torch.exp(pi.log_prob(actions) - old_log_pi)
            surr1 = ratios * advantages  # expect: place
            surr2 = torch.clamp(ratios, 1 - self.args.eps_clip, 1 + self.args.eps_clip) * advantages
            actor_loss = -torch.min(surr1, surr2).mean() - 0.01 * pi.entropy().mean()
            critic_loss = (self.critic(state) - rewards).pow(2).mean()

            self.actor_optimiser.zero_grad()
            self.critic_optimiser.zero_grad()
            critic_loss.backward()
            actor_loss.backward()  # expect: place
            self.critic_optimiser.step()
            self.actor_optimiser.step()
        return {"actor": actor_loss.item(), "critic": critic_loss.item(), "r": rewards.mean().item()}


def run(args):
    torch.manual_seed(args.seed)
    learner = MAPPO(args)
    for i in range(args.n_iters):
        log = learner.train(*learner.collect())
        print(i, {k: round(v, 4) for k, v in log.items()})


if __name__ == "__main__":
    run(Args())
