"""What would a gentler weaning protocol be worth? Fitted Q evaluation on logged ICU stays."""
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ACTIONS = ("hold", "reduce support")
STATES = 6  # severity, worst first; leaving it at the upper end is extubation


@dataclass(frozen=True)
class Setting:
    gamma: float = 0.9
    sweeps: int = 400
    batch: int = 128
    lr: float = 0.02
    stays: int = 300
    seed: int = 81


class Transitions(NamedTuple):
    state: Tensor
    action: Tensor
    reward: Tensor
    following: Tensor
    over: Tensor

    def take(self, index: Tensor) -> "Transitions":
        return Transitions(*(column[index] for column in self))


def protocol(state: Tensor) -> Tensor:
    """Probabilities of the actions under the protocol that we ask about."""
    reduce = torch.where(state >= 2, 0.8, 0.3)
    return torch.stack([1 - reduce, reduce], -1)


def nature(state: Tensor, action: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    better = torch.where(action == 1, 0.55, 0.45)
    worse = torch.where(action == 1, 0.35, 0.20)
    draw = torch.rand(len(state))
    move = (draw < better).long() - (draw > 1 - worse).long()
    reached = state + move
    extubated, died = reached >= STATES, reached < 0
    reward = extubated.float() - died.float() - 0.02
    return reward, reached.clamp(0, STATES - 1), (extubated | died).float()


def logged_stays(n: int, steps: int = 8) -> Transitions:
    state, rows = torch.randint(0, STATES, (n,)), []
    for _ in range(steps):
        action = (torch.rand(n) < 0.5).long()
        reward, following, over = nature(state, action)
        rows.append(Transitions(state, action, reward, following, over))
        state = torch.where(over.bool(), torch.randint(0, STATES, (n,)), following)
    return Transitions(*(torch.cat(column) for column in zip(*rows)))


def one_hot(state: Tensor) -> Tensor:
    return F.one_hot(state, STATES).float()


def bellman_error(q: nn.Module, rows: Transitions, gamma: float) -> Tensor:
    taken = q(one_hot(rows.state)).gather(1, rows.action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        weights = protocol(rows.following)
    upcoming = (weights * q(one_hot(rows.following))).sum(-1)
    target = rows.reward + gamma * (1 - rows.over) * upcoming
    return F.mse_loss(taken, target)


@torch.no_grad()
def values(q: nn.Module) -> Tensor:
    states = torch.arange(STATES)
    return (protocol(states) * q(one_hot(states))).sum(-1)


@torch.no_grad()
def rollout_values(gamma: float, n: int = 1500) -> Tensor:
    state = torch.arange(STATES).repeat_interleave(n)
    total, alive = torch.zeros(len(state)), torch.ones(len(state))
    for k in range(50):
        action = torch.multinomial(protocol(state), 1).squeeze(1)
        reward, state, over = nature(state, action)
        total += gamma ** k * alive * reward
        alive = alive * (1 - over)
    return total.view(STATES, n).mean(1)


def main(setting: Setting = Setting()) -> None:
    torch.manual_seed(setting.seed)
    rows = logged_stays(setting.stays)
    q = nn.Sequential(nn.Linear(STATES, 24), nn.Tanh(), nn.Linear(24, len(ACTIONS)))
    optimizer = torch.optim.Adam(q.parameters(), lr=setting.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, setting.sweeps)
    for sweep in range(1, setting.sweeps + 1):
        index = torch.randint(0, len(rows.state), (setting.batch,))
        error = bellman_error(q, rows.take(index), setting.gamma)
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        schedule.step()
        if sweep % 100 == 0:
            print(f"sweep {sweep}: error {error.item():.4f}, values {[round(v, 2) for v in values(q).tolist()]}")
    simulated = rollout_values(setting.gamma)
    print("simulated", [round(v, 2) for v in simulated.tolist()])
    print(f"mean gap {(values(q) - simulated).abs().mean().item():.3f}")


if __name__ == "__main__":
    main()
