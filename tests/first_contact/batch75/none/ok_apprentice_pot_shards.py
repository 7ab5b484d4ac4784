# expect: pattern = none
"""A small student learns from a teacher's scores that are worked out once, before the epochs."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)


class ResidualMLP(nn.Module):
    def __init__(self, n_in, width, n_out, depth):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(inplace=True), nn.Linear(width, width))
            for _ in range(depth))
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        h = F.relu(self.inp(x), inplace=True)
        for block in self.blocks:
            r = block(h)
            r += h
            h = r
        h /= len(self.blocks) + 1
        return self.out(h)


def shards(n):
    y = torch.randint(0, 4, (n,))
    x = torch.randn(n, 10)
    x[torch.arange(n), y] += 1.5
    x[:, 4:8] *= 0.5
    return x, y


def fit(model, loader, step, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    ema = None
    for epoch in range(epochs):
        for batch in loader:
            loss = step(model, batch)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            ema = loss.detach() if ema is None else ema.mul_(0.9).add_(loss.detach(), alpha=0.1)
        print(f"  epoch {epoch} smoothed loss {ema.item():.4f}")


x, y = shards(256)
print("teacher")
teacher = ResidualMLP(10, 48, 4, depth=2)
fit(teacher, DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True),
    lambda m, b: F.cross_entropy(m(b[0]), b[1]), epochs=3)

teacher.eval()
with torch.no_grad():
    soft = F.softmax(teacher(x) / 2.0, dim=1)

print("student")
student = ResidualMLP(10, 12, 4, depth=1)


def distil(m, batch):
    inputs, targets, hard = batch
    log_p = F.log_softmax(m(inputs) / 2.0, dim=1)
    return 4.0 * F.kl_div(log_p, targets, reduction="batchmean") + 0.1 * F.nll_loss(log_p, hard)


fit(student, DataLoader(TensorDataset(x, soft, y), batch_size=32, shuffle=True), distil, epochs=3)
