"""Price + days-on-market of flats from one shared encoder; both losses are sent back separately so
that the share of each task in the encoder's gradient can be logged."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(8)
np.random.seed(8)


def flats(n=256):
    area = np.random.uniform(25, 140, n)
    floor = np.random.randint(0, 9, n)
    age = np.random.uniform(0, 80, n)
    dist = np.random.exponential(4.0, n)
    price = 3.2 * area - 0.8 * age - 9 * dist + 2 * floor + np.random.normal(0, 8, n)
    days = 20 + 0.05 * price + 3 * dist + np.random.normal(0, 5, n)
    X = np.stack([area, floor, age, dist], 1)
    X = (X - X.mean(0)) / X.std(0)
    norm = lambda v: ((v - v.mean()) / v.std())[:, None]
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    return to(X), to(norm(price)), to(norm(days))


class FlatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(inplace=True), nn.Linear(32, 16), nn.ReLU(inplace=True))
        self.price_head = nn.Linear(16, 1)
        self.days_head = nn.Linear(16, 1)

    def forward(self, x):
        h = self.encoder(x)
        return self.price_head(h), self.days_head(h)


def grad_vector(module):
    return torch.cat([p.grad.flatten().clone() for p in module.parameters()])


X, price, days = flats()
net = FlatNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
mse = nn.MSELoss()
running_loss = 0.0
cosines = []

for epoch in range(15):
    perm = torch.randperm(len(X))
    for i in range(0, len(X), 64):
        b = perm[i:i + 64]
        opt.zero_grad()
        p_hat, d_hat = net(X[b])
        loss_price = mse(p_hat, price[b])
        loss_days = 0.5 * mse(d_hat, days[b])

        loss_price.backward(retain_graph=True)
        g_price = grad_vector(net.encoder)
        loss_days.backward()
        g_days = grad_vector(net.encoder) - g_price
        cosines.append(torch.cosine_similarity(g_price, g_days, dim=0).item())

        opt.step()
        running_loss = 0.95 * running_loss + 0.05 * (loss_price + loss_days).item()
    if epoch % 5 == 4:
        print(f"epoch {epoch}: smoothed loss {running_loss:.4f}, gradient cosine {np.mean(cosines[-20:]):+.3f}")
