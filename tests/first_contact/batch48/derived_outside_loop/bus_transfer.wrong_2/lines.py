import torch


def stop_pairs(n_stops):
    ring = torch.arange(n_stops)
    nearest = torch.stack([ring[:-1], ring[1:]])
    express = torch.stack([ring[:-4:2], ring[4::2]])
    return torch.cat([nearest, express], dim=1)


def make_days(n_stops, n_days, pairs):
    spread = 0.5 * torch.eye(n_stops)
    spread[pairs[0], pairs[1]] = 0.2
    days = []
    for _ in range(n_days):
        delay = torch.rand(n_stops) * 6
        riders = torch.rand(n_stops)
        before = torch.stack([delay, riders], dim=1)
        days.append((before, spread @ delay + 0.8 * riders))
    return days
