import torch


def delays(n_lines, n_minutes, n_stops, seed=0):
    g = torch.Generator().manual_seed(seed)
    noise = torch.randn(n_lines, n_minutes, n_stops, generator=g)
    t = torch.arange(n_minutes).view(1, -1, 1) / 15.0
    phase = torch.rand(n_lines, 1, n_stops, generator=g) * 6.28
    return torch.sin(t + phase) + 0.1 * noise


def windows(series, length):
    for start in range(0, series.size(1) - length, length):
        x = series[:, start:start + length]
        y = series[:, start + 1:start + length + 1]
        yield x, y
