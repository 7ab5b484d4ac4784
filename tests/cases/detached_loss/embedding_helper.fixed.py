import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SimCLR(nn.Module):
    def __init__(self, d=10, z=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.projector = nn.Linear(32, z)

    def embed(self, x):
        return nn.functional.normalize(self.projector(self.encoder(x)), dim=-1)

    def loss(self, a, b, t=0.2):
        za, zb = self.embed(a), self.embed(b)
        logits = za @ zb.T / t
        labels = torch.arange(len(a))
        return (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.T, labels)) / 2


def augment(x):
    return x + 0.1 * torch.randn_like(x)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 10)), batch_size=16, shuffle=True)
model = SimCLR()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for (x,) in loader:
        loss = model.loss(augment(x), augment(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch}: {loss:.3f}")
bank = model.embed(torch.randn(5, 10))
print(bank.shape)
