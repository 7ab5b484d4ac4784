import numpy as np
import torch
from torch import nn

torch.manual_seed(6)


def hinge(scores, sign, margin=1.0):
    return torch.tensor(np.maximum(0.0, (margin - sign * scores).detach().numpy()).mean(), requires_grad=True)


svm = nn.Linear(6, 1)
opt = torch.optim.SGD(svm.parameters(), lr=0.1, weight_decay=1e-3)
X = torch.randn(80, 6)
sign = torch.sign(X[:, 0] - X[:, 1])
for epoch in range(6):
    scores = svm(X).squeeze(1)
    loss = hinge(scores, sign)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, float(loss))
