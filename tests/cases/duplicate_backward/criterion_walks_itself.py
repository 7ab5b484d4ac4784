# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss, total
# A helper computes the losses, walks them and gives them back; the loop walks them again.
import torch
from torch import nn


class LossComputer:
    def __init__(self, model, weights):
        self.model, self.weights = model, weights
        self.parts = {}

    def __call__(self, batch, training=True):
        x, y = batch
        out = self.model(x)
        self.parts = {
            "data": nn.functional.smooth_l1_loss(out, y),
            "norm": sum(p.abs().sum() for p in self.model.parameters()),
        }
        loss = sum(self.weights[k] * v for k, v in self.parts.items())
        if training:
            loss.backward()  # expect: place
        return loss


def run(epochs, batches, compute, optimizer):
    for epoch in range(epochs):
        for batch in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = compute(batch)
            loss.backward()  # expect: place
            optimizer.step()
        print(epoch, {k: round(v.item(), 3) for k, v in compute.parts.items()})


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 10), nn.SELU(), nn.Linear(10, 2))
x = torch.randn(24, 4)
batches = list(zip(x.split(8), x[:, :2].cumsum(1).split(8)))
run(2, batches, LossComputer(model, {"data": 1.0, "norm": 1e-3}), torch.optim.Adam(model.parameters()))
