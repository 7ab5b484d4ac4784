# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss, out, x
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

model = nn.Linear(8, 2)
x = torch.randn(4, 8)
y = torch.tensor([0, 1, 0, 1])
epsilon = 0.1
model.requires_grad_(False)


# paste: begin
def fgsm(model, x, y, epsilon):
    with torch.no_grad():  # expect: place
        out = model(x)  # expect: place
        loss = F.cross_entropy(out, y)  # expect: place
    loss.backward()  # expect: place
    return x + epsilon * x.grad.sign()


# paste: end
fgsm(model, x, y, epsilon)
