# expect: pattern = retain-graph-leak
# expect: also = stored-graph, derived-outside-loop
# expect: raises = nothing
# expect: carrier = self.centre
import torch
from torch import nn


class CentreLoss(nn.Module):
    """Pulls embeddings to a running mean of all batches seen so far."""

    def __init__(self, dim, momentum=0.9):
        super().__init__()
        self.centre = torch.zeros(dim)
        self.momentum = momentum

    def forward(self, z):
        self.centre = self.momentum * self.centre + (1 - self.momentum) * z.mean(0)  # expect: place
        spread = z.var(0).mean()
        return (z - self.centre).abs().mean() + (spread - 1).pow(2)


torch.manual_seed(1)
encoder = nn.Linear(7, 4)
criterion = CentreLoss(4)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
for step in range(10):
    batch = torch.randn(24, 7) + 0.5
    loss = criterion(encoder(batch))
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # expect: place
    optimizer.step()
    print(step, round(loss.item(), 4))
