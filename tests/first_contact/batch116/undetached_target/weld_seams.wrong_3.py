"""Grade weld seams from gauge profiles: few graded by the inspector, many not graded at all."""

from itertools import cycle

import torch
from torch import nn
from torch.nn import functional as F

GRADES = 3
POINTS = 32


def profiles(n, seed):
    """Good seams are smooth, undercut ones dip at the edge, porous ones are rough."""
    gen = torch.Generator().manual_seed(seed)
    grade = torch.randint(GRADES, (n,), generator=gen)
    s = torch.linspace(-1, 1, POINTS)
    base = (1 - s.square()).expand(n, -1)
    dip = torch.exp(-((s - 0.8) ** 2) / 0.02) * (grade == 1)[:, None]
    rough = torch.randn(n, POINTS, generator=gen) * (0.05 + 0.3 * (grade == 2))[:, None]
    return base - dip + rough, grade


class Shaker:
    """Weak or strong variations of a profile: the gauge slips, tilts and rattles."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def _noise(self, *shape):
        return torch.randn(*shape, generator=self.gen)

    def weak(self, x):
        return x + 0.02 * self._noise(*x.shape)

    def strong(self, x):
        tilt = 0.2 * self._noise(len(x), 1) * torch.linspace(-1, 1, POINTS)
        slip = int(torch.randint(-2, 3, (1,), generator=self.gen))
        return x.roll(slip, dims=1) + tilt + 0.08 * self._noise(*x.shape)


class Grader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 5, padding=2)
        self.head = nn.Linear(16, GRADES)

    def forward(self, x):
        h = torch.tanh(self.conv(x.unsqueeze(1)))
        return self.head(torch.cat([h.mean(dim=2), h.amax(dim=2)], dim=1))


def sharpened(p, temperature):
    p = p ** (1 / temperature)
    return p / p.sum(dim=1, keepdim=True)


def guess(model, views, temperature=0.5):
    """Grades for seams without one: what the model says on average, a little bolder."""
    said = [model(views[0]).softmax(dim=1)]
    with torch.no_grad():
        said += [model(view).softmax(dim=1) for view in views[1:]]
    return sharpened(torch.stack(said).mean(dim=0), temperature)


def agreement(model, shaker, x):
    guesses = guess(model, [shaker.weak(x), shaker.weak(x)])
    return F.mse_loss(model(shaker.strong(x)).softmax(dim=1), guesses)


def train(model, graded, ungraded, shaker, steps=60, weight=2.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    supply = cycle(zip(*(part.split(8) for part in graded), strict=True))
    plenty = cycle(ungraded.split(32))
    for step, ((x, y), u) in enumerate(zip(supply, plenty, strict=False)):
        if step == steps:
            return
        known = F.cross_entropy(model(shaker.weak(x)), y)
        unknown = agreement(model, shaker, u)
        ramp = min(1.0, step / 30)
        optimizer.zero_grad()
        (known + weight * ramp * unknown).backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}  graded {known.item():.3f}  agreement {unknown.item():.4f}")


def main():
    torch.manual_seed(5)
    model = Grader()
    train(model, profiles(24, seed=40), profiles(256, seed=41)[0], Shaker(seed=42))
    with torch.no_grad():
        x, y = profiles(300, seed=43)
        print(f"right {(model(x).argmax(1) == y).float().mean().item():.2f}")


if __name__ == "__main__":
    main()
