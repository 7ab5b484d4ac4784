"""Casts of a made-up works: what was charged before each of them and the silicon in the iron."""
import torch

SIGNALS = ("coke rate", "ore basicity", "blast temp", "blast moisture", "pci")


def works(furnaces, count, charges=5):
    """Yields (charges, silicon) cast by cast; the hearths are slow and never start afresh."""
    weight = torch.tensor([0.6, -0.4, 0.5, -0.3, 0.2])
    heat = torch.zeros(furnaces)
    burden = torch.randn(furnaces, len(SIGNALS))
    for _ in range(count):
        rows = []
        for _ in range(charges):
            burden = 0.7 * burden + 0.7 * torch.randn_like(burden)
            heat = 0.85 * heat + 0.15 * burden @ weight
            rows.append(burden)
        silicon = 0.5 + 0.4 * torch.tanh(heat) + 0.02 * torch.randn(furnaces)
        yield torch.stack(rows, 1), silicon
