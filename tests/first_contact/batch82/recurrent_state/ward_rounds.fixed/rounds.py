"""A made-up ward: heart rates and such that drift, and who is worse at the next round."""
import torch


def ward_rounds(count, beds, seen):
    drift = torch.randn(beds, 5) * 0.3
    now = torch.randn(beds, 5)
    for _ in range(count):
        now = 0.9 * now + drift + 0.1 * torch.randn(beds, 5)
        chosen = torch.randperm(beds)[:seen]
        worse = (drift[chosen, 0] + drift[chosen, 1] > 0).float()
        yield chosen.tolist(), now[chosen], worse
