# latent ode for noisy pendulum readings: encoder -> z0, rk4 in latent space, decoder -> signal
import numpy as np
import torch
import torch.nn as nn

SEED = 55
N_SERIES, N_POINTS, DT = 96, 20, 0.2
LATENT = 4
BATCH = 32
EPOCHS = 5

rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)


def swing(n):
    theta = rng.uniform(-1.2, 1.2, n)
    omega = rng.uniform(-0.5, 0.5, n)
    rows = []
    for _ in range(N_POINTS):
        rows.append(np.stack([np.sin(theta), omega], -1))
        for _ in range(4):
            omega = omega - DT / 4 * (np.sin(theta) + 0.1 * omega)
            theta = theta + DT / 4 * omega
    x = np.stack(rows, 1) + 0.02 * rng.randn(n, N_POINTS, 2)
    return torch.from_numpy(x.astype(np.float32))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 24, batch_first=True)
        self.out = nn.Linear(24, LATENT)

    def forward(self, x):
        # runs backwards in time, so the last state belongs to t = 0
        _, h = self.rnn(x.flip(1))
        return self.out(h[0])


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, 32), nn.Tanh(), nn.Linear(32, LATENT))

    def forward(self, z):
        return self.net(z)


def rk4(f, z, dt):
    k1 = f(z)
    k2 = f(z + dt / 2 * k1)
    k3 = f(z + dt / 2 * k2)
    k4 = f(z + dt * k3)
    return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def rollout(f, z, n):
    path = [z]
    for _ in range(n - 1):
        z = rk4(f, z, DT)
        path.append(z)
    return torch.stack(path, 1)


encoder, field = Encoder(), Field()
decoder = nn.Sequential(nn.Linear(LATENT, 16), nn.ReLU(), nn.Linear(16, 2))

opt_dyn = torch.optim.SGD([*encoder.parameters(), *field.parameters()], lr=0.02, momentum=0.8)
opt_dec = torch.optim.Adam(decoder.parameters(), lr=5e-3)
mse = nn.MSELoss()

train_x, test_x = swing(N_SERIES), swing(32)

for epoch in range(EPOCHS):
    seen = 0.0
    for idx in torch.randperm(N_SERIES).split(BATCH):
        x = train_x[idx]
        z0 = encoder(x[:, :10])
        z = rollout(field, z0, N_POINTS)
        loss = mse(decoder(z), x) + 1e-3 * z0.pow(2).mean()

        field.zero_grad()
        opt_dec.zero_grad()
        loss.backward()
        opt_dyn.step()
        opt_dec.step()
        seen += loss.item() * len(idx)

    with torch.no_grad():
        z = rollout(field, encoder(test_x[:, :10]), N_POINTS)
        err = mse(decoder(z)[:, 10:], test_x[:, 10:]).item()
    print('epoch', epoch, 'train', round(seen / N_SERIES, 4), 'extrapolation', round(err, 4))
