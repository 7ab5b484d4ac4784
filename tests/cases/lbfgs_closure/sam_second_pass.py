# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss, predictions
# Sharpness-aware minimisation around plain SGD.
import torch
import torch.nn as nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        value = closure()
        grads = [p.grad for g in self.param_groups for p in g["params"] if p.grad is not None]
        scale = self.param_groups[0]["rho"] / (torch.stack([g.norm() for g in grads]).norm() + 1e-12)
        shifts = []
        for group in self.param_groups:
            for p in group["params"]:
                shift = torch.zeros_like(p) if p.grad is None else p.grad * scale
                p.add_(shift)
                shifts.append((p, shift))
        closure()
        for p, shift in shifts:
            p.sub_(shift)
        self.base_optimizer.step()
        return value


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1)
for step in range(3):
    inputs, labels = torch.randn(20, 5), torch.randint(0, 3, (20,))
    loss = nn.functional.cross_entropy(model(inputs), labels)  # expect: place

    def closure():
        optimizer.zero_grad()
        loss.backward()  # expect: place
        return loss

    optimizer.step(closure)
