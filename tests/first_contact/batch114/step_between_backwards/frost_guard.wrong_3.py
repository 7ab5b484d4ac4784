"""Off-policy controller for the heaters of an orchard on frosty nights."""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Hyper:
    gamma: float = 0.95
    polyak: float = 0.05
    actor_lr: float = 1e-3
    critic_lr: float = 3e-3
    batch: int = 32
    fuel_price: float = 0.3


class Critic(nn.Module):
    def __init__(self, obs: int, act: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs + act, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs: Tensor, act: Tensor) -> Tensor:
        return self.net(torch.cat([obs, act], dim=-1)).squeeze(-1)


class Replay:
    """Random nights; heating helps against frost and costs fuel."""

    def __init__(self, size: int, hyper: Hyper) -> None:
        self.obs = torch.randn(size, 3)
        self.act = torch.rand(size, 2)
        warmth = self.obs[:, 0] + self.act.sum(-1)
        self.reward = -F.relu(0.5 - warmth) - hyper.fuel_price * self.act.sum(-1)
        self.next_obs = 0.9 * self.obs + 0.1 * torch.randn(size, 3)

    def sample(self, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        index = torch.randint(len(self.obs), (count,))
        return self.obs[index], self.act[index], self.reward[index], self.next_obs[index]


class FrostAgent:
    def __init__(self, hyper: Hyper) -> None:
        self.hyper = hyper
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2), nn.Sigmoid())
        self.critic = Critic(3, 2)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.optimizers = {
            "critic": torch.optim.Adam(self.critic.parameters(), lr=hyper.critic_lr),
            "actor": torch.optim.Adam(self.actor.parameters(), lr=hyper.actor_lr),
        }

    def losses(self, batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
        obs, act, reward, next_obs = batch
        with torch.no_grad():
            future = self.slow_critic(next_obs, self.slow_actor(next_obs))
            target = reward + self.hyper.gamma * future
        return {
            "critic": F.mse_loss(self.critic(obs, act), target),
            "actor": -self.critic(obs, self.actor(obs)).mean(),
        }

    def update(self, batch: tuple[Tensor, ...]) -> dict[str, float]:
        losses = self.losses(batch)
        for name, optimizer in self.optimizers.items():
            optimizer.zero_grad()
            losses[name].backward(retain_graph=True)
            optimizer.step()
        self.follow(self.slow_actor, self.actor)
        self.follow(self.slow_critic, self.critic)
        return {name: loss.item() for name, loss in losses.items()}

    @torch.no_grad()
    def follow(self, slow: nn.Module, fast: nn.Module) -> None:
        for lagging, leading in zip(slow.parameters(), fast.parameters()):
            lagging.lerp_(leading, self.hyper.polyak)


def main() -> None:
    torch.manual_seed(5)
    hyper = Hyper()
    replay = Replay(400, hyper)
    agent = FrostAgent(hyper)
    for night in range(8):
        report = agent.update(replay.sample(hyper.batch))
        print(night, {name: round(value, 4) for name, value in report.items()})


if __name__ == "__main__":
    main()
