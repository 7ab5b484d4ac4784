import torch
from torch import nn


class SNLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i) * 0.1)
        self.bias = nn.Parameter(torch.zeros(o))
        self.register_buffer("u", nn.functional.normalize(torch.randn(o), dim=0))

    def forward(self, x):
        v = nn.functional.normalize(self.weight.t() @ self.u, dim=0)
        self.u = nn.functional.normalize(self.weight @ v, dim=0).detach()
        sigma = self.u @ self.weight @ v
        return nn.functional.linear(x, self.weight / sigma, self.bias)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(SNLinear(4, 16), nn.LeakyReLU(0.2), SNLinear(16, 1))

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
D = Discriminator()
og, od = torch.optim.Adam(G.parameters(), 1e-4), torch.optim.Adam(D.parameters(), 4e-4)
for it in range(3):
    real, fake = torch.randn(8, 4), G(torch.randn(8, 3))
    d_loss = torch.relu(1 - D(real)).mean() + torch.relu(1 + D(fake.detach())).mean()
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = -D(fake).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
    print(it, d_loss.item(), g_loss.item())
