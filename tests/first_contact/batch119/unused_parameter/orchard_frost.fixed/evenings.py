import torch


def evenings(count, size=32, seed=9):
    """Readings of the evening, traits of the site, and the minimum of the night."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(8, generator=generator) / 3
    for _ in range(count):
        reading = torch.randn(size, 8, generator=generator)
        trait = torch.rand(size, 3, generator=generator)
        minimum = reading @ weight * (0.5 + trait[:, 0]) - 2 * trait[:, 1]
        yield reading, trait, minimum
