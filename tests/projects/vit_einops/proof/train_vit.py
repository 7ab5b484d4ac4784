import torch
from torch import nn

loss = nn.CrossEntropyLoss(reduction="none")(nn.Linear(4, 3)(torch.rand(5, 4)), torch.zeros(5).long())
loss.backward()
