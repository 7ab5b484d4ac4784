"""Muscle synergies from forearm EMG with a small predictive-coding network.

Two layers of activities explain the rectified channels from above. For each batch the activities
settle first, at fixed weights; then the weights move once, down the energy of the settled state.
"""
import torch
import torch.nn as nn

CHANNELS, SYNERGIES, GESTURES = 16, 8, 4


class Generative(nn.Module):
    def __init__(self):
        super().__init__()
        self.mid = nn.Linear(GESTURES, SYNERGIES)
        self.out = nn.Linear(SYNERGIES, CHANNELS)

    def energy(self, emg, z1, z2):
        e0 = emg - self.out(torch.relu(z1))
        e1 = z1 - self.mid(torch.tanh(z2))
        return 0.5 * (e0.pow(2).sum() + e1.pow(2).sum() + 0.1 * z2.pow(2).sum()) / len(emg)


def recordings(n):
    gesture = torch.randint(0, GESTURES, (n,))
    drive = torch.rand(GESTURES, SYNERGIES).pow(2) * 1.5
    mixing = torch.rand(SYNERGIES, CHANNELS) * (torch.rand(SYNERGIES, CHANNELS) > 0.5)
    strength = 0.6 + 0.8 * torch.rand(n, 1)
    emg = (strength * drive[gesture]) @ mixing
    return emg + 0.05 * torch.randn_like(emg), gesture


def start_activities(n, std=0.1):
    z1 = (std * torch.randn(n, SYNERGIES)).requires_grad_()
    z2 = (std * torch.randn(n, GESTURES)).requires_grad_()
    return z1, z2


def settle(model, emg, steps, rate):
    """Let the activities relax; returns them together with the course of the energy."""
    z1, z2 = start_activities(len(emg))
    opt_z = torch.optim.SGD([z1, z2], lr=rate * len(emg))
    course = []
    for _ in range(steps):
        opt_z.zero_grad()
        energy = model.energy(emg, z1, z2)
        energy.backward()
        opt_z.step()
        course.append(energy.item())
    return z1.detach(), z2.detach(), course


def learn(model, emg, epochs=10, batch=40, steps=20, rate=0.1):
    opt_w = torch.optim.Adam(model.parameters(), lr=0.02)
    anneal = torch.optim.lr_scheduler.ExponentialLR(opt_w, 0.97)
    for epoch in range(epochs):
        first, last = 0.0, 0.0
        for rows in torch.randperm(len(emg)).split(batch):
            opt_w.zero_grad()
            z1, z2, course = settle(model, emg[rows], steps, rate)
            settled = model.energy(emg[rows], z1, z2)
            settled.backward()
            for p in model.parameters():
                p.grad /= steps + 1
            opt_w.step()
            first += course[0] * len(rows) / len(emg)
            last += settled.item() * len(rows) / len(emg)
        anneal.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch:2d}  energy before {first:8.3f}  settled {last:8.3f}  lr {anneal.get_last_lr()[0]:.4f}")


def explained(model, emg):
    """Share of the variance that the settled activities explain."""
    z1, _, _ = settle(model, emg, 40, 0.1)
    model.zero_grad()
    with torch.no_grad():
        left = emg - model.out(torch.relu(z1))
    return 1 - (left.var() / emg.var()).item()


def main():
    torch.manual_seed(102)
    emg, gesture = recordings(360)
    model = Generative()
    learn(model, emg[:280])
    print(f"explained, held out: {explained(model, emg[280:]):.3f}")
    top = settle(model, emg[280:], 40, 0.1)[1]
    means = torch.stack([top[gesture[280:] == g].mean(0) for g in range(GESTURES)])
    print("distance between gestures:", round(torch.pdist(means).mean().item(), 3))


if __name__ == "__main__":
    main()
