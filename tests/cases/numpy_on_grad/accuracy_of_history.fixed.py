import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


def accuracy(logits, y):
    return float((np.argmax(logits.detach().numpy(), axis=1) == y.numpy()).mean())


class History(dict):
    def log(self, **kw):
        for k, v in kw.items():
            self.setdefault(k, []).append(v)


def fit(net, data, epochs=2):
    hist = History()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    lossf = nn.CrossEntropyLoss()
    for ep in range(epochs):
        for x, y in data:
            out = net(x)
            loss = lossf(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hist.log(loss=loss.item(), acc=accuracy(out, y))
        print(ep, np.mean(hist["acc"]))
    return hist


net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
fit(net, [(torch.randn(8, 5), torch.randint(0, 3, (8,))) for _ in range(4)])
