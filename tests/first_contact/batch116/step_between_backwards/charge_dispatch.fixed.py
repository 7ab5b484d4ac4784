"""Offline training of a dispatcher for a grid battery: when to charge, when to sell."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Options:
    hidden: int = 24
    discount: float = 0.97
    slide: float = 0.02  # of the target nets, per update
    critic_lr: float = 3e-3
    actor_lr: float = 1e-3
    batch: int = 64
    updates: int = 30


class Batch(NamedTuple):
    state: Tensor
    action: Tensor
    reward: Tensor
    after: Tensor


class Archive:
    """Hours logged under the old rule-based dispatcher: (charge level, price, next price)."""

    def __init__(self, hours: int, seed: int) -> None:
        self.gen = torch.Generator().manual_seed(seed)
        clock = torch.arange(hours + 2) / 24 * 2 * torch.pi
        price = 1 + 0.5 * clock.sin() + 0.1 * torch.randn(hours + 2, generator=self.gen)
        level = torch.rand(hours, generator=self.gen)
        action = torch.rand(hours, 1, generator=self.gen) * 2 - 1
        moved = (level + 0.25 * action.squeeze(1)).clamp(0, 1) - level
        cost = price[:-2] * moved + 0.02 * moved.abs()
        self.data = Batch(
            torch.stack([level, price[:-2], price[1:-1]], dim=1),
            action,
            -cost[:, None],
            torch.stack([level + moved, price[1:-1], price[2:]], dim=1),
        )

    def batches(self, size: int, count: int) -> Iterator[Batch]:
        for _ in range(count):
            rows = torch.randint(len(self.data.state), (size,), generator=self.gen)
            yield Batch(*(column[rows] for column in self.data))


def mlp(inputs: int, hidden: int, *last: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), *last
    )


class Dispatcher:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.actor = mlp(3, options.hidden, nn.Linear(options.hidden, 1), nn.Tanh())
        self.critic = mlp(4, options.hidden, nn.Linear(options.hidden, 1))
        self.old_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.old_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.optimizers = {
            "critic": torch.optim.Adam(self.critic.parameters(), lr=options.critic_lr),
            "actor": torch.optim.Adam(self.actor.parameters(), lr=options.actor_lr),
        }

    @staticmethod
    def value(critic: nn.Module, state: Tensor, action: Tensor) -> Tensor:
        return critic(torch.cat([state, action], dim=1))

    def critic_loss(self, batch: Batch) -> Tensor:
        with torch.no_grad():
            later = self.value(self.old_critic, batch.after, self.old_actor(batch.after))
            goal = batch.reward + self.options.discount * later
        return F.mse_loss(self.value(self.critic, batch.state, batch.action), goal)

    def actor_loss(self, batch: Batch) -> Tensor:
        return -self.value(self.critic, batch.state, self.actor(batch.state)).mean()

    def update(self, batch: Batch) -> dict[str, float]:
        losses = {}
        for part, loss_of in {"critic": self.critic_loss, "actor": self.actor_loss}.items():
            losses[part] = loss_of(batch)
            self.optimizers[part].zero_grad()
            losses[part].backward()
            self.optimizers[part].step()
        self.follow(self.actor, self.old_actor)
        self.follow(self.critic, self.old_critic)
        return {part: loss.item() for part, loss in losses.items()}

    @torch.no_grad()
    def follow(self, new: nn.Module, old: nn.Module) -> None:
        for target, source in zip(old.parameters(), new.parameters(), strict=True):
            target.lerp_(source, self.options.slide)


def main() -> None:
    torch.manual_seed(9)
    options = Options()
    dispatcher = Dispatcher(options)
    archive = Archive(hours=600, seed=1)
    for number, batch in enumerate(archive.batches(options.batch, options.updates)):
        told = dispatcher.update(batch)
        if number % 10 == 0:
            print(f"update {number:3d}  critic {told['critic']:.4f}  actor {told['actor']:.4f}")


if __name__ == "__main__":
    main()
