# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Accumulating:
    def __init__(self, model, every):
        self.model, self.every = model, every
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.count = 0

    def __call__(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y) / self.every
        loss.backward()
        self.count += 1
        if self.count % self.every == 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            for p in self.model.parameters():
                p.grad = None
        return loss.item() * self.every


torch.manual_seed(0)
step = Accumulating(nn.Linear(3, 1), 3)
for n in range(12):
    print(n, step(torch.randn(4, 3), torch.randn(4, 1)))
