# expect: pattern = leaf-rebound
# expect: also = nonleaf-grad
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = params, p
import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)

# ----------------------------------------------------------------------
# Homework 3: two layer network for heart disease, without torch.nn
# columns: age, sex, resting bp, cholesterol, max heart rate, oldpeak
# ----------------------------------------------------------------------
n = 300
age = np.random.normal(54, 9, n)
sex = np.random.randint(0, 2, n)
bp = np.random.normal(131, 17, n)
chol = np.random.normal(246, 50, n)
rate = np.random.normal(150, 22, n)
oldpeak = np.abs(np.random.normal(1, 1.1, n))
risk = 0.05 * (age - 54) + 0.8 * sex + 0.01 * (bp - 131) - 0.04 * (rate - 150) + 0.7 * (oldpeak - 1)
disease = (risk + np.random.normal(0, 0.5, n) > 0.3).astype(np.float32)

X = np.column_stack([age, sex, bp, chol, rate, oldpeak])
X = (X - X.mean(axis=0)) / X.std(axis=0)

split = int(0.8 * n)
X_train = torch.tensor(X[:split], dtype=torch.float32)
y_train = torch.tensor(disease[:split]).view(-1, 1)
X_test = torch.tensor(X[split:], dtype=torch.float32)
y_test = torch.tensor(disease[split:]).view(-1, 1)

print("train", X_train.shape, "test", X_test.shape, "sick", y_train.mean().item())

n_hidden = 10
lr = 0.5
epochs = 5
batch_size = 40


def init_params(sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        W = torch.randn(n_in, n_out) * (2.0 / n_in) ** 0.5
        b = torch.zeros(n_out)
        W.requires_grad = True
        b.requires_grad = True
        params.append(W)
        params.append(b)
    return params


def relu(z):
    return torch.max(z, torch.zeros_like(z))


def sigmoid(z):
    return 1 / (1 + torch.exp(-z))


def net(X, params):
    W1, b1, W2, b2 = params
    h = relu(X @ W1 + b1)
    return sigmoid(h @ W2 + b2)


def log_loss(p, y):
    p = p.clamp(1e-6, 1 - 1e-6)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


def sgd(params, lr):
    for i, p in enumerate(params):
        params[i] = p - lr * p.grad  # expect: place


def accuracy(X, y, params):
    guess = (net(X, params) > 0.5).float()
    return (guess == y).float().mean().item()


params = init_params([X_train.shape[1], n_hidden, 1])

for epoch in range(epochs):
    order = torch.randperm(len(X_train))
    losses = []
    for start in range(0, len(X_train), batch_size):
        idx = order[start:start + batch_size]
        xb, yb = X_train[idx], y_train[idx]

        out = net(xb, params)
        loss = log_loss(out, yb)
        loss.backward()
        sgd(params, lr)  # expect: place

        losses.append(loss.item())

    print("epoch", epoch + 1,
          "loss", round(float(np.mean(losses)), 4),
          "train acc", round(accuracy(X_train, y_train, params), 3),
          "test acc", round(accuracy(X_test, y_test, params), 3))

print("done")
