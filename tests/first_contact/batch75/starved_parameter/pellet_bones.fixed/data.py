import torch


def pellet_images(n, size=12):
    """Femurs, jaws, ribs and skulls as rough strokes on a 12 x 12 plate."""
    labels = torch.arange(n) % 4
    images = 0.1 * torch.randn(n, 1, size, size)
    for i, label in enumerate(labels.tolist()):
        at = int(torch.randint(2, size - 4, (1,)))
        if label == 0:
            images[i, 0, at] += 1.0
        elif label == 1:
            images[i, 0, at, : size // 2] += 1.0
            images[i, 0, :at, 2] += 1.0
        elif label == 2:
            images[i, 0, :, at] += 1.0
        else:
            images[i, 0, at:at + 3, at:at + 3] += 1.0
    return images, labels
