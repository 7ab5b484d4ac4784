# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = logits, score, out
# Trains a classifier and logs the mean input gradient of the winning class.
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(3):
    x = torch.randn(8, 6, requires_grad=True)
    y = torch.randint(0, 3, (8,))
    logits = model(x)
    top = logits.max(dim=1).values.sum()
    saliency = torch.autograd.grad(top, x)[0].abs()  # expect: place
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(step, saliency.mean().item())
