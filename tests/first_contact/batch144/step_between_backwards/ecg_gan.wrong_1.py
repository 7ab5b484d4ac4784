import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(11)
np.random.seed(11)

# ----- settings -----
BATCH = 24
EPOCHS = 3
STEPS = 5
LEN = 64          # samples in one beat
Z_DIM = 8
LR_G = 1e-3
LR_D = 1e-3


# ----- data: something that looks like a heart beat -----
def beats(n):
    t = np.linspace(-1, 1, LEN)[None, :]
    shift = np.random.uniform(-0.1, 0.1, size=(n, 1))
    amp = np.random.uniform(0.8, 1.2, size=(n, 1))
    qrs = amp * np.exp(-((t - shift) / 0.06) ** 2)
    p_wave = 0.2 * np.exp(-((t - shift + 0.4) / 0.12) ** 2)
    t_wave = 0.3 * np.exp(-((t - shift - 0.5) / 0.15) ** 2)
    noise = 0.02 * np.random.randn(n, LEN)
    return torch.from_numpy(qrs + p_wave + t_wave + noise).float()


# ----- networks -----
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z_DIM, 16 * 16)
        self.up = nn.Sequential(
            nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1),
        )

    def forward(self, z):
        x = self.fc(z).view(-1, 16, 16)
        return self.up(x).squeeze(1)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(8, 16, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
        )
        self.out = nn.Linear(16 * 16, 1)

    def forward(self, x):
        h = self.conv(x.unsqueeze(1))
        return self.out(h.flatten(1))


G = Generator()
D = Discriminator()
opt_G = torch.optim.Adam(G.parameters(), lr=LR_G, betas=(0.5, 0.999))
opt_D = torch.optim.Adam(D.parameters(), lr=LR_D, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

ones = torch.ones(BATCH, 1)
zeros = torch.zeros(BATCH, 1)
fixed_z = torch.randn(16, Z_DIM)
d_hist, g_hist = [], []

for epoch in range(EPOCHS):
    for i in range(STEPS):
        real = beats(BATCH)
        z = torch.randn(BATCH, Z_DIM)
        fake = G(z)

        d_real = D(real)
        d_fake = D(fake.detach())

        d_loss = bce(d_real, 0.9 * ones) + bce(d_fake, zeros)

        opt_D.zero_grad()
        d_loss.backward()
        opt_D.step()

        g_loss = bce(D(fake.detach()), ones)
        opt_G.zero_grad()
        g_loss.backward()
        opt_G.step()

        d_hist.append(d_loss.item())
        g_hist.append(g_loss.item())

    G.eval()
    with torch.no_grad():
        sample = G(fixed_z)
    G.train()
    peak = sample.argmax(dim=1).float().mean().item()
    print("epoch %d  d_loss %.3f  g_loss %.3f  mean peak %.1f"
          % (epoch, np.mean(d_hist[-STEPS:]), np.mean(g_hist[-STEPS:]), peak))
