# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Unbind
# expect: carrier = row, z
import torch
from torch import nn

torch.manual_seed(14)
encoder = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 8))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)


def contrastive(z1, z2, temperature=0.2):
    for z in (z1, z2):
        for row in z:  # expect: place
            row /= row.norm()  # expect: place
    logits = z1 @ z2.t() / temperature
    return nn.functional.cross_entropy(logits, torch.arange(len(z1)))


for step in range(4):
    x = torch.randn(12, 20)
    loss = contrastive(encoder(x + 0.05 * torch.randn_like(x)), encoder(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
