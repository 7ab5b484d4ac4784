# Identify stiffness and damping of a car's suspension from a drop test (plain classes, no nn.Module).
# expect: pattern = leaf-rebound
# expect: raises = nothing
# expect: carrier = theta, self.theta, car.theta, optimizer
import torch

torch.manual_seed(3)

BOUNDS = {"k": (5.0, 60.0), "c": (0.2, 1.5), "m": (0.95, 1.15)}


class QuarterCar:
    def __init__(self, **guess):
        self.theta = {name: torch.tensor(value, requires_grad=True) for name, value in guess.items()}

    def drop(self, height, steps=60, dt=0.02):
        x, v, out = height, torch.zeros_like(height), []
        for _ in range(steps):
            a = -(self.theta["k"] * x + self.theta["c"] * v) / self.theta["m"]
            v = v + dt * a
            x = x + dt * v
            out.append(x)
        return torch.stack(out)

    def project(self):
        """Back into the physically possible box."""
        for name, (low, high) in BOUNDS.items():
            with torch.no_grad():
                self.theta[name].clamp_(low, high)


truth = QuarterCar(k=24.0, c=0.9, m=1.0)
heights = torch.tensor([0.05, 0.1, 0.15])
with torch.no_grad():
    measured = truth.drop(heights) + 0.001 * torch.randn(60, 3)

car = QuarterCar(k=20.0, c=1.4, m=1.1)
optimizer = torch.optim.Adam([  # expect: place
    {"params": [car.theta["k"]], "lr": 0.5},
    {"params": [car.theta["c"], car.theta["m"]], "lr": 0.05},
])

for step in range(25):
    optimizer.zero_grad()
    loss = ((car.drop(heights) - measured) / heights).pow(2).mean()
    loss.backward()
    optimizer.step()
    car.project()  # expect: place
    if step % 6 == 0:
        print(step, f"{loss.item():.5f}", {name: round(p.item(), 3) for name, p in car.theta.items()})
