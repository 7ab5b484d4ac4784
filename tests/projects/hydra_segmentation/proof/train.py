import torch

from segnet import Decoder

Decoder(4)(torch.rand(2, 4, 8, 8, requires_grad=True)).mean().backward()
