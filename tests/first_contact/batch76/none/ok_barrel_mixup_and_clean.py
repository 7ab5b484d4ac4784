# expect: pattern = none
# expect: raises = nothing
"""Oak barrel spectra: clean and mixed batches, each with its own pass, one step for both."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(19)

net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
centres = torch.randn(3, 16)
y_all = torch.randint(3, (120,))
x_all = centres[y_all] + 0.7 * torch.randn(120, 16)

ema_logits = torch.zeros(120, 3)
best, best_state = float("inf"), None
for epoch in range(4):
    losses = []
    for idx in torch.randperm(120).split(30):
        x, y = x_all[idx], y_all[idx]
        opt.zero_grad()

        logits = net(x)
        clean = F.cross_entropy(logits, y)
        clean.backward()

        lam = torch.distributions.Beta(0.4, 0.4).sample()
        other = torch.randperm(len(idx))
        mixed = net(lam * x + (1 - lam) * x[other])
        mix = lam * F.cross_entropy(mixed, y) + (1 - lam) * F.cross_entropy(mixed, y[other])
        mix.backward()

        opt.step()
        ema_logits[idx] = 0.8 * ema_logits[idx] + 0.2 * logits.detach()
        losses.append((clean + mix).detach())
    mean = torch.stack(losses).mean()
    if mean < best:
        best, best_state = mean, {k: v.clone() for k, v in net.state_dict().items()}
    agree = (ema_logits.argmax(1) == y_all).float().mean()
    print(f"epoch {epoch} loss {mean:.3f} smoothed accuracy {agree:.3f}")
net.load_state_dict(best_state)
