# expect: pattern = growing-history
# expect: also = stored-graph
# expect: raises = nothing
# expect: carrier = slow, average, follow, params, decay
"""Wind roses by flow matching: hourly wind (u, v) at a mast, given the season and the hour.

Functional style: the net is only a shape, the numbers are in a dictionary. Draws are made with
the averaged numbers, as everybody does.
"""
import math
from functools import partial

import torch
from torch import nn
from torch.func import functional_call

STEPS, BATCH, DECAY = 150, 128, 0.98


def winds(n, gen):
    """Westerlies in winter; a sea breeze in summer that turns with the hour."""
    season = torch.rand(n, generator=gen)  # 0 winter, 1 summer
    hour = torch.rand(n, generator=gen)
    west = torch.stack([4 + 2 * torch.randn(n, generator=gen), 1.5 * torch.randn(n, generator=gen)], 1)
    turn = 2 * math.pi * hour
    breeze = 3 * torch.stack([turn.cos(), turn.sin()], 1) + 0.6 * torch.randn(n, 2, generator=gen)
    summer = torch.rand(n, generator=gen) < season
    uv = torch.where(summer[:, None], breeze, west) / 3
    return uv, torch.stack([season, turn.cos(), turn.sin()], 1)


class Field(nn.Module):
    def __init__(self, width=48, freqs=4):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(freqs))
        self.inp = nn.Linear(2 + 3 + 2 * freqs, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, x, t, given):
        a = t[:, None] * self.freqs
        h = nn.functional.silu(self.inp(torch.cat([x, given, a.sin(), a.cos()], 1)))
        h = h + nn.functional.silu(self.mid(h))
        return self.out(h)


def flow_loss(call, params, uv, given, gen):
    t = torch.rand(len(uv), generator=gen)
    noise = torch.randn(uv.shape, generator=gen)
    x = torch.lerp(noise, uv, t[:, None])
    guess = call(params, (x, t, given))
    return (guess - (uv - noise)).square().sum(1).mean()


def follow(average, params, decay):
    """One step of the exponential average, with all names at once."""
    return {k: decay * average[k] + (1 - decay) * p for k, p in params.items()}  # expect: place


@torch.no_grad()
def draw(call, params, given, gen, steps=16):
    """Heun's method from noise to wind."""
    x = torch.randn(len(given), 2, generator=gen)
    for i in range(steps):
        t = torch.full((len(given),), i / steps)
        a = call(params, (x, t, given))
        b = call(params, (x + a / steps, t + 1 / steps, given))
        x = x + (a + b) / (2 * steps)
    return x


def energy_distance(a, b):
    d = torch.cdist
    return (2 * d(a, b).mean() - d(a, a).mean() - d(b, b).mean()).item()


def main(seed=12):
    gen = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = Field()
    call = partial(functional_call, net)
    params = {k: p.detach().clone().requires_grad_() for k, p in net.named_parameters()}
    slow = {k: p.clone() for k, p in params.items()}  # expect: place
    optimizer = torch.optim.Adam(params.values(), lr=4e-3)
    data = winds(4000, gen)
    test = winds(400, gen)
    for step in range(1, STEPS + 1):
        rows = torch.randint(0, 4000, (BATCH,), generator=gen)
        loss = flow_loss(call, params, data[0][rows], data[1][rows], gen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slow = follow(slow, params, min(DECAY, step / (step + 10)))  # expect: place
        if step % 50 == 0:
            rose = draw(call, slow, test[1], gen)
            print(f"{step:4d} loss {loss.item():.3f} energy distance {energy_distance(rose, test[0]):.4f}")
    return {k: p.detach() for k, p in slow.items()}


if __name__ == "__main__":
    best = main()
    print(sum(p.numel() for p in best.values()), "numbers kept")
