# Draws a transit map: stations are pulled together along lines and pushed apart otherwise.
import torch


class SignStepper:
    """Resilient steps: grow while the sign of the slope stays, shrink when it flips."""

    def __init__(self, tensors, first=0.05, grow=1.2, shrink=0.5):
        self.tensors = list(tensors)
        self.grow, self.shrink = grow, shrink
        self.size = [torch.full_like(t, first).detach() for t in self.tensors]
        self.last = [torch.zeros_like(t).detach() for t in self.tensors]

    def zero(self):
        for t in self.tensors:
            t.grad = None

    @torch.no_grad()
    def move(self):
        for i, t in enumerate(self.tensors):
            sign = t.grad.sign()
            agree = sign * self.last[i]
            self.size[i] *= torch.where(agree > 0, self.grow, torch.where(agree < 0, self.shrink, 1.0))
            self.size[i].clamp_(1e-4, 0.3)
            t -= self.size[i] * sign
            self.last[i] = sign


def lines():
    red = list(range(0, 8))
    blue = [8, 9, 3, 10, 11]
    ring = [1, 9, 12, 5, 11, 13]
    pairs = []
    for line in (red, blue, ring):
        pairs += list(zip(line[:-1], line[1:]))
    return torch.tensor(pairs).T


def tension(stops, pairs):
    a, b = stops[pairs[0]], stops[pairs[1]]
    spring = ((a - b).norm(dim=1) - 1.0).pow(2).mean()
    gap = torch.cdist(stops, stops) + 10 * torch.eye(len(stops))
    crowd = torch.relu(0.8 - gap).pow(2).mean()
    delta = b - a
    octilinear = torch.sin(4 * torch.atan2(delta[:, 1], delta[:, 0])).pow(2).mean()
    return spring + 5 * crowd + 0.1 * octilinear


torch.manual_seed(3)
pairs = lines()
stops = torch.randn(14, 2, requires_grad=True) * 2.0
zoom = torch.zeros(1, requires_grad=True)
stepper = SignStepper([zoom])

for sweep in range(60):
    stepper.zero()
    strain = tension(stops * zoom.exp(), pairs)
    strain.backward()
    stepper.move()
    if sweep % 15 == 0:
        print(f"sweep {sweep:2d}: strain {strain.item():.4f}, zoom {zoom.exp().item():.3f}")

print("first stops:", [[round(v, 2) for v in row] for row in stops[:3].tolist()])
