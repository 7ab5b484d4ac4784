# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = pred, loss
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

net = nn.Linear(8, 8)
images = torch.randn(4, 8)
labels = torch.randn(4)
# paste: begin
logits = net(images)
pred = logits.argmax(dim=1).float()  # expect: place
loss = F.mse_loss(pred, labels)
loss.backward()  # expect: place
# paste: end
