"""Travel times of two earthquakes: their pulls on one velocity model are balanced before a step."""
import torch


class Inversion:
    def __init__(self, cells):
        self.slowness = torch.nn.Parameter(torch.full((cells,), 0.3))
        self.descent = torch.optim.SGD([self.slowness], lr=0.05, momentum=0.5)

    def pull(self, ray, time):
        if self.slowness.grad is not None:
            self.slowness.grad.zero_()
        (ray @ self.slowness - time).pow(2).mean().backward()
        return {"grad": self.slowness.grad.clone(), "norm": self.slowness.grad.norm().item()}

    def update(self, rays, times):
        directions = [self.pull(ray, time) for ray, time in zip(rays, times)]
        self.slowness.grad = sum(d["grad"] / (d["norm"] + 1e-9) for d in directions)
        self.descent.step()
        return [d["norm"] for d in directions]


torch.manual_seed(40)
truth = 0.3 + 0.1 * torch.rand(12)
inversion = Inversion(12)
for event in range(8):
    rays = [torch.rand(6, 12) for _ in range(2)]
    norms = inversion.update(rays, [ray @ truth for ray in rays])
print([round(norm, 5) for norm in norms])
