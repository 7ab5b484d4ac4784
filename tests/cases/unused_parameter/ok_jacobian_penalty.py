# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(3, 8), nn.Linear(2, 8), nn.Linear(8, 1)

    def forward(self, x, z=None):
        h = self.a(x)
        if z is not None:
            h = h + self.b(z)
        return self.out(torch.relu(h))


def jacobian_penalty(model, x, z):
    x, z = x.detach().requires_grad_(), z.detach().requires_grad_()
    out = model(x, z)
    gx, gz = torch.autograd.grad(out.sum(), (x, z), create_graph=True, allow_unused=True)
    parts = [g.square().sum(1).mean() for g in (gx, gz) if g is not None]
    return torch.stack(parts).sum()


torch.manual_seed(0)
model = TwoInputs()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(5):
    x, z, y = torch.randn(12, 3), torch.randn(12, 2), torch.randn(12, 1)
    loss = nn.functional.mse_loss(model(x, z), y) + 0.1 * jacobian_penalty(model, x, z)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
