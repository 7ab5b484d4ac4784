# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss, y_hat
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    # paste: begin
    def training_step(self, batch, batch_idx):
        x, y = batch
        y_hat = self.net(x)
        loss = F.mse_loss(y_hat.detach(), y)  # expect: place
        return loss  # expect: place

    # paste: end


M().training_step((torch.randn(4, 8), torch.randn(4, 8)), 0).backward()
