"""Weights of two tasks by the upper bound of MGDA: gradients of the shared representation."""
import torch


def min_norm(g1, g2):
    """The weight of the first of two gradients in their shortest convex combination."""
    gap = (g1 - g2).pow(2).sum()
    weight = ((g2 - g1) * g2).sum() / gap.clamp(min=1e-12)
    return weight.clamp(0.05, 0.95).item()


class Balancer:
    def __init__(self, smoothing=0.8):
        self.smoothing = smoothing
        self.weight = 0.5

    def __call__(self, losses, shared):
        towards = []
        for loss in losses:
            (g,) = torch.autograd.grad(loss, shared)
            towards.append(g / loss.item())
        self.weight = self.smoothing * self.weight + (1 - self.smoothing) * min_norm(*towards)
        first, second = losses
        return self.weight * first + (1 - self.weight) * second
