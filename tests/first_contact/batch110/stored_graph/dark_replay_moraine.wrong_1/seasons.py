import torch

CLASSES, FEATURES = 3, 12
CENTRES = torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(0))


def season(number, n, seed=0):
    """Light and snow shift the features from season to season."""
    g = torch.Generator().manual_seed(100 * seed + number)
    drift = torch.randn(FEATURES, generator=torch.Generator().manual_seed(30 + number))
    labels = torch.randint(CLASSES, (n,), generator=g)
    return CENTRES[labels] + 0.8 * number * drift + 0.7 * torch.randn(n, FEATURES, generator=g), labels
