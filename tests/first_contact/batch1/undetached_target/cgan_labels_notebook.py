# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fake
# %% [markdown]
# # Conditional GAN on noisy rings
# exported from my notebook

# %%
import math

import torch
import torch.nn as nn

torch.manual_seed(2021)
n_classes, z_dim, batch = 3, 4, 24

# %%
class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(n_classes, 4)
        self.net = nn.Sequential(nn.Linear(z_dim + 4, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z, y):
        return self.net(torch.cat([z, self.emb(y)], dim=1))


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(n_classes, 4)
        self.net = nn.Sequential(nn.Linear(2 + 4, 32), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(32, 1))

    def forward(self, x, y):
        return self.net(torch.cat([x, self.emb(y)], dim=1)).squeeze(1)


def rings(y):
    angle = 2 * math.pi * torch.rand(len(y))
    radius = y.float() + 1 + 0.05 * torch.randn(len(y))
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


# %%
gen, disc = G(), D()
g_opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(disc.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(batch), torch.zeros(batch)

# %%
history = {"d": [], "g": []}
for step in range(10):
    y = torch.randint(0, n_classes, (batch,))
    real = rings(y)
    fake = gen(torch.randn(batch, z_dim), y)

    g_opt.zero_grad()
    d_opt.zero_grad()

    # 1) discriminator
    d_loss = bce(disc(real, y), ones) + bce(disc(fake, y), zeros)  # expect: place
    d_loss.backward()
    d_opt.step()

    # 2) generator
    g_loss = bce(disc(fake, y), ones)
    g_loss.backward()  # expect: place
    g_opt.step()

    history["d"].append(d_loss.item())
    history["g"].append(g_loss.item())

# %%
print("D", [round(v, 3) for v in history["d"]])
print("G", [round(v, 3) for v in history["g"]])
