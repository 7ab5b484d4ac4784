# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
import torch
from torch import nn


class Accelerator:
    def __init__(self, steps):
        self.steps = steps

    def backward(self, loss):
        loss = loss / self.steps
        loss.backward()  # expect: place


def train(model, data, accum=2):
    acc = Accelerator(accum)
    opt = torch.optim.AdamW(model.parameters())
    for i, (x, y) in enumerate(data):
        loss = nn.functional.mse_loss(model(x), y)
        acc.backward(loss)  # expect: place
        if (i + 1) % accum == 0:
            loss.backward()  # expect: place
            opt.step()
            opt.zero_grad()


torch.manual_seed(0)
train(nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 1)),
      [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(6)])
