# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = gate, soft
"""A gate that opens or shuts each measured feature, learned together with a regression."""
import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.logits = nn.Parameter(0.1 * torch.randn(features))
        self.fit = nn.Linear(features, 1)

    def forward(self, x):
        soft = torch.sigmoid(4 * self.logits)
        hard = (soft > 0.5).float()
        gate = (soft + (hard - soft)).detach()  # expect: place
        return self.fit(gate * x).squeeze(1)


torch.manual_seed(55)
model = Gated(10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for week in range(12):
    x = torch.randn(64, 10)
    wanted = x[:, 0] - 2 * x[:, 3]
    loss = nn.functional.mse_loss(model(x), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", (model.logits > 0).int().tolist())
