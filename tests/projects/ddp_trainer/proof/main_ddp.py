import torch

from net import GatedNet

model = GatedNet()
model(torch.randn(4, 8)).pow(2).mean().backward()
