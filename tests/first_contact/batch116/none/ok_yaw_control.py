"""Actor and critic for the yaw drive of a wind turbine, updated together from logged minutes."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass
class Minute:
    wind: Tensor  # speed, direction off the rotor axis, gustiness
    turn: Tensor
    gain: Tensor
    later: Tensor


def logged(n: int, gen: torch.Generator) -> Minute:
    wind = torch.randn(n, 3, generator=gen)
    turn = torch.rand(n, 1, generator=gen) * 2 - 1
    off = wind[:, 1:2] - turn
    gain = wind[:, :1].sigmoid() * torch.cos(off.clamp(-1.5, 1.5)) - 0.1 * turn.abs()
    drift = 0.3 * torch.randn(n, 3, generator=gen)
    later = 0.9 * torch.cat([wind[:, :1], off, wind[:, 2:]], dim=1) + drift
    return Minute(wind, turn, gain, later)


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wind = nn.Linear(3, 20)
        self.turn = nn.Linear(1, 20, bias=False)
        self.value = nn.Linear(20, 1)

    def forward(self, wind: Tensor, turn: Tensor) -> Tensor:
        return self.value(torch.tanh(self.wind(wind) + self.turn(turn)))


class Yaw:
    def __init__(self, discount: float = 0.9) -> None:
        self.discount = discount
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())
        self.critic = Critic()
        self.of_actor = list(self.actor.parameters())
        self.of_critic = list(self.critic.parameters())
        self.optimizer = torch.optim.Adam(
            [{"params": self.of_actor, "lr": 2e-3}, {"params": self.of_critic, "lr": 5e-3}]
        )

    def losses(self, minute: Minute) -> tuple[Tensor, Tensor]:
        chosen = self.actor(minute.wind)
        with torch.no_grad():
            ahead = self.critic(minute.later, self.actor(minute.later))
        goal = minute.gain + self.discount * ahead
        td = F.smooth_l1_loss(self.critic(minute.wind, minute.turn), goal)
        return td, -self.critic(minute.wind, chosen).mean() + 0.01 * chosen.square().mean()

    def update(self, minute: Minute) -> tuple[float, float]:
        td, regret = self.losses(minute)
        self.optimizer.zero_grad()
        td.backward(inputs=self.of_critic)
        regret.backward(inputs=self.of_actor)
        nn.utils.clip_grad_norm_(self.of_actor, 1.0)
        nn.utils.clip_grad_norm_(self.of_critic, 1.0)
        self.optimizer.step()
        return td.item(), regret.item()


def main() -> None:
    torch.manual_seed(18)
    gen = torch.Generator().manual_seed(27)
    yaw = Yaw()
    history: list[tuple[float, float]] = []
    for number in range(40):
        history.append(yaw.update(logged(64, gen)))
        if number % 10 == 9:
            td, regret = torch.tensor(history[-10:]).mean(dim=0).tolist()
            print(f"{number + 1:3d} updates  td {td:.4f}  regret {regret:.4f}")
    with torch.no_grad():
        test = torch.tensor([[0.5, -0.8, 0.0], [0.5, 0.0, 0.0], [0.5, 0.8, 0.0]])
        print("turn for wind from the left, ahead, the right:", yaw.actor(test).flatten().tolist())


if __name__ == "__main__":
    main()
