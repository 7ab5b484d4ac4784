# one loss a replica, the way a data parallel wrapper hands them back
import torch
from torch import nn


class Replicated(nn.Module):
    def __init__(self, module, replicas):
        super().__init__()
        self.module, self.replicas = module, replicas

    def forward(self, x, y):
        losses = [self.module(a, b) for a, b in zip(x.chunk(self.replicas), y.chunk(self.replicas))]
        return torch.stack(losses)


class ModelWithLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 14), nn.SiLU(), nn.Linear(14, 2))

    def forward(self, x, y):
        return nn.functional.smooth_l1_loss(self.net(x), y)


torch.manual_seed(16)
model = Replicated(ModelWithLoss(), replicas=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(4):
    x = torch.randn(32, 7)
    loss = model(x, x[:, :2].abs()).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print("step", step, "loss", loss.mean().item())
