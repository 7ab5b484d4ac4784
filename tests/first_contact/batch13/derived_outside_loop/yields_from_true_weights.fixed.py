"""Linear regression from scratch on made-up wheat yields (exercise 3)."""
import random

import torch


def make_data(w, b, n):
    rain_and_sun = torch.normal(0, 1, (n, len(w)))
    yields = torch.matmul(rain_and_sun, w) + b
    return rain_and_sun, yields + torch.normal(0, 0.01, yields.shape)


def data_iter(batch_size, features, labels):
    order = list(range(len(features)))
    random.shuffle(order)
    for i in range(0, len(order), batch_size):
        pick = torch.tensor(order[i:i + batch_size])
        yield features[pick], labels[pick]


def linreg(X, w, b):
    return torch.matmul(X, w) + b


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr, batch_size):
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad / batch_size
            p.grad.zero_()


random.seed(3)
torch.manual_seed(3)
true_w = torch.tensor([2.0, -3.4])
true_b = torch.tensor(4.2)
features, labels = make_data(true_w, true_b, 200)

w = torch.normal(0, 0.01, (2,), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for X, y in data_iter(20, features, labels):
        l = squared_loss(linreg(X, w, b), y).sum()
        l.backward()
        sgd([w, b], 0.1, 20)
    print(epoch, float(squared_loss(linreg(features, w, b), labels).mean()))
