import torch
import torch.nn as nn

torch.manual_seed(3)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 4))

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=-1)


encoder = Encoder()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randn(8, 6)
    left = encoder(x + 0.05 * torch.randn_like(x))
    right = encoder(x + 0.05 * torch.randn_like(x))
    optimizer.zero_grad()
    (1 - (left * right.detach()).sum(-1)).mean().backward()
    (1 - (right * left.detach()).sum(-1)).mean().backward()
    optimizer.step()
