# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss
import torch
from torch import nn


class MultiTaskLoss:
    def __init__(self, weights):
        self.weights = weights
        self.last = {}

    def __call__(self, preds, targets):
        self.last = {
            name: nn.functional.mse_loss(preds[name], targets[name]).item() for name in preds
        }
        return torch.tensor(sum(self.weights[n] * v for n, v in self.last.items()))


torch.manual_seed(0)
trunk = nn.Linear(5, 8)
heads = nn.ModuleDict({"a": nn.Linear(8, 1), "b": nn.Linear(8, 2)})
criterion = MultiTaskLoss({"a": 1.0, "b": 0.5})
opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.1)
for step in range(3):
    z = torch.relu(trunk(torch.randn(6, 5)))
    preds = {n: h(z) for n, h in heads.items()}
    loss = criterion(preds, {"a": torch.zeros(6, 1), "b": torch.ones(6, 2)})
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
