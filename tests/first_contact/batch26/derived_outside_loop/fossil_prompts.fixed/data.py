import torch

GENERA = ["ammonites", "belemnites", "trilobites", "crinoids", "nummulites"]


def batches(epoch, n=5, size=20):
    g = torch.Generator().manual_seed(100 + epoch)
    for _ in range(n):
        labels = torch.randint(0, len(GENERA), (size,), generator=g)
        images = torch.randn(size, 3, 14, 14, generator=g) * 0.4
        images[:, 0] += labels[:, None, None] * 0.5 - 1
        images[:, 2] += torch.sin(labels.float())[:, None, None]
        yield images, labels
