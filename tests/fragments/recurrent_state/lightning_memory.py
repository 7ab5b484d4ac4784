# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.memory
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class Base(nn.Module):
    def log(self, *a):
        pass


class encoder_cls(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 8)

    def forward(self, x, h):
        h = self.cell(x, h)
        return h * 2, h


class T(Base):
    def __init__(self):
        super().__init__()
        self.encoder = encoder_cls()
        self.head = nn.Linear(8, 8)
        self.memory = torch.zeros(4, 8)

    # paste: begin
    def training_step(self, batch, batch_idx):
        x, y = batch
        feats, self.memory = self.encoder(x, self.memory)  # expect: place
        y_hat = self.head(feats)
        loss = F.mse_loss(y_hat, y)
        self.log("train_loss", loss)
        return loss  # expect: place

    # paste: end


t = T()
for i in range(2):
    t.training_step((torch.randn(4, 8), torch.randn(4, 8)), i).backward()
