import torch


def FashionMNIST(*args, **kwargs):
    return [(torch.rand(1, 28, 28), 0)] * 16
