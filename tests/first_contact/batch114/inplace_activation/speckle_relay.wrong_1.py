"""Learned start for phase retrieval: which hologram gives this picture?

The unrolled solver hops between the hologram plane and the picture plane. It keeps the wanted
amplitudes, lets the phases settle, and uses a bit of momentum so that it does not get stuck.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 16


def disc(size, radius):
    axis = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    return (xx ** 2 + yy ** 2 <= radius ** 2).float()


class StartNet(nn.Module):
    """Guesses a phase map and an exposure from the wanted picture."""

    def __init__(self, channels=6):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1), nn.Tanh(),
            nn.Conv2d(channels, channels, 3, padding=1), nn.Tanh(),
        )
        self.to_phase = nn.Conv2d(channels, 1, 1)
        self.to_gain = nn.Linear(channels, 1)

    def forward(self, picture):
        features = self.body(picture.unsqueeze(1))
        phase = 3.1 * torch.tanh(self.to_phase(features)).squeeze(1)
        gain = F.softplus(self.to_gain(features.mean(dim=(2, 3)))) + 0.5
        return phase, gain.unsqueeze(-1)


class Relay(nn.Module):
    def __init__(self, rounds=4, momentum=0.4):
        super().__init__()
        self.rounds = rounds
        self.momentum = momentum
        self.register_buffer("aperture", disc(SIZE, 0.7))

    def to_hologram(self, field):
        return torch.fft.ifft2(field, norm="ortho") * self.aperture

    def to_picture(self, field):
        return torch.fft.fft2(field, norm="ortho")

    def forward(self, wanted, phase, gain):
        direction = torch.polar(torch.ones_like(phase), phase)
        before = torch.zeros_like(direction)
        for _ in range(self.rounds):
            arrived = self.to_picture(self.to_hologram(gain * wanted * direction))
            far = arrived - self.momentum * before
            with torch.no_grad():
                far /= far.abs() + 1e-6
            direction = far
            before = arrived
        return self.to_picture(self.to_hologram(gain * wanted * direction)).abs()


def pictures(count):
    """A few bright spots on a dim ground."""
    out = torch.full((count, SIZE, SIZE), 0.05)
    for picture in out:
        spots = torch.randint(2, SIZE - 2, (5, 2))
        picture[spots[:, 0], spots[:, 1]] = 1.0
    return out


def main():
    torch.manual_seed(31)
    net, relay = StartNet(), Relay()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    data = pictures(24)

    for epoch in range(3):
        seen = 0.0
        for wanted in data.split(8):
            phase, gain = net(wanted)
            got = relay(wanted, phase, gain)
            loss = F.mse_loss(got, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += loss.item()
        print(f"{epoch}: {seen:.5f}")


main()
