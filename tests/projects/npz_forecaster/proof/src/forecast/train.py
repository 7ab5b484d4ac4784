import torch

from forecast.cell import MemoryCell

net = MemoryCell(3, 4)
for step in range(3):
    net(torch.rand(1, 3)).sum().backward()
