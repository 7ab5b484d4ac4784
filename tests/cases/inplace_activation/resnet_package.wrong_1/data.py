import torch


def batches(n, size=6):
    for _ in range(n):
        images = torch.rand(size, 1, 8, 8)
        yield images, (images.mean(dim=(1, 2, 3)) * 30).long() % 3
