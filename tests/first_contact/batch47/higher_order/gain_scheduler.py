# expect: pattern = higher-order
# expect: carrier = tuned
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
"""Learn feedback gains that retune themselves to a new cart after one short trial."""
from dataclasses import dataclass

import torch
from torch.func import grad


@dataclass
class Cart:
    mass: float
    drag: float

    def push(self, state, force, dt=0.1):
        place, speed = state
        accel = (force - self.drag * speed) / self.mass
        return place + dt * speed, speed + dt * accel


def trial_cost(gains, cart, start, ticks=8):
    state = (start, torch.zeros_like(start))
    cost = 0.0
    for _ in range(ticks):
        force = -gains[0] * state[0] - gains[1] * state[1]
        state = cart.push(state, torch.tanh(force) * 3)
        cost = cost + state[0] ** 2 + 0.1 * state[1] ** 2 + 0.01 * force ** 2
    return cost.mean() / ticks


def retune(gains, rate, cart, start, rounds=1):
    for _ in range(rounds):
        gains = gains - rate.exp() * grad(trial_cost)(gains, cart, start)
    return gains


def carts(n, gen):
    for _ in range(n):
        m, d = torch.rand(2, generator=gen).tolist()
        yield Cart(mass=0.5 + 1.5 * m, drag=0.1 + 0.6 * d)


def meta_train(episodes=12):
    gen = torch.Generator().manual_seed(8)
    gains = torch.tensor([0.4, 0.1], requires_grad=True)
    rate = torch.tensor(-1.5, requires_grad=True)
    meta = torch.optim.Adam([gains, rate], lr=0.08)

    for episode in range(episodes):
        meta.zero_grad()
        running = 0.0
        for cart in carts(3, gen):
            warmup = torch.randn(6, generator=gen)
            tuned = retune(gains, rate, cart, warmup)  # expect: place
            for spread in (0.5, 1.0, 2.0):
                fresh = spread * torch.randn(8, generator=gen)
                score = trial_cost(tuned, cart, fresh, ticks=12) / 9  # expect: place
                score.backward()  # expect: place
                running += score.item()
        meta.step()
        if episode % 3 == 0:
            print(f"episode {episode:2d}  cost {running:.4f}  "
                  f"gains {[round(g, 3) for g in gains.tolist()]}  rate {rate.exp().item():.3f}")


meta_train()
