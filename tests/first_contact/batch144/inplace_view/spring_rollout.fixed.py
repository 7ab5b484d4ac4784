"""
Learn the force law of coupled masses from trajectories.
Symplectic Euler roll-outs, the network only sees positions.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)
np.random.seed(42)

N_MASS = 5
DT = 0.1
T_ROLL = 12


def true_acc(q, k=2.0, k3=0.5):
    left = np.roll(q, 1, axis=-1) - q
    right = np.roll(q, -1, axis=-1) - q
    return k * (left + right) + k3 * (left ** 3 + right ** 3) - 0.3 * q


def generate(n_traj, n_steps):
    q = 0.8 * np.random.randn(n_traj, N_MASS)
    p = 0.2 * np.random.randn(n_traj, N_MASS)
    states = [np.stack([q, p], axis=1)]
    for _ in range(n_steps):
        p = p + DT * true_acc(q)
        q = q + DT * p
        states.append(np.stack([q, p], axis=1))
    return torch.tensor(np.stack(states), dtype=torch.float32)     # (T+1, B, 2, N)


class ForceNet(nn.Module):
    def __init__(self, n, width=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, n),
        )

    def forward(self, q):
        return self.layers(q)


def rollout(net, state0, n_steps):
    traj = [state0]
    for t in range(n_steps):
        pos = traj[t][:, 0]
        vel = traj[t][:, 1]
        acc = net(pos)
        vel = vel + DT * acc
        pos = pos + DT * vel
        traj.append(torch.stack([pos, vel], dim=1))
    return torch.stack(traj)


def energy_drift(traj):
    kin = 0.5 * (traj[:, :, 1] ** 2).sum(-1)
    return (kin[-1] - kin[0]).abs().mean().item()


train_data = generate(64, T_ROLL)
test_data = generate(16, 2 * T_ROLL)

net = ForceNet(N_MASS)
optimizer = optim.Adam(net.parameters(), lr=5e-3)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
batch_size = 16

for epoch in range(5):
    perm = torch.randperm(train_data.shape[1])
    epoch_loss = 0.0
    for b in range(0, len(perm), batch_size):
        target = train_data[:, perm[b:b + batch_size]]
        pred = rollout(net, target[0], T_ROLL)
        loss = ((pred[1:] - target[1:]) ** 2).mean()

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    scheduler.step()

    with torch.no_grad():
        pred = rollout(net, test_data[0], 2 * T_ROLL)
        test_mse = ((pred - test_data) ** 2).mean().item()
    print(f"[{epoch}] train {epoch_loss / 4:.4f}  test {test_mse:.4f}  drift {energy_drift(pred):.3f}")
