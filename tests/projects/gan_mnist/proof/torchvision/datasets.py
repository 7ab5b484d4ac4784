import torch


def MNIST(*args, **kwargs):
    return [(torch.rand(1, 28, 28), 0)] * 128
