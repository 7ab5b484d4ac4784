"""Synthetic event-camera recordings: four hand movements over 24 polarity bins."""
import torch

N_BINS = 24
N_CLASSES = 4


def recording(n_streams, length, generator):
    labels = torch.randint(N_CLASSES, (n_streams,), generator=generator)
    t = torch.arange(length).view(1, -1, 1)
    pos = torch.arange(N_BINS).view(1, 1, -1)
    speed = torch.tensor([1.0, -1.0, 2.0, -2.0])[labels].view(-1, 1, 1)
    phase = (pos - speed * t / 3.0) * (2 * torch.pi / N_BINS)
    rate = 0.5 * torch.relu(torch.cos(phase))
    events = (torch.rand(rate.shape, generator=generator) < rate).float()
    return events, labels


def segments(events, size):
    for start in range(0, events.size(1), size):
        yield events[:, start:start + size]
