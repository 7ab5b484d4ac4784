#!/usr/bin/env python
# coding: utf-8

# # Week 3 exercise - logistic regression by hand (no nn, no optim!)
# Which guests of the observatory come back? x1 = clouds, x2 = minutes at the telescope

# In[1]:

import torch
torch.manual_seed(3)
N = 200
X = torch.randn(N, 2)
y = (torch.sigmoid(1.5 * X[:, 1] - X[:, 0] + 0.3) > torch.rand(N)).float()
theta = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
velocity = [torch.zeros(2), torch.zeros(1)]

# In[2]:

def predict(x):
    return torch.sigmoid(x @ theta + b)

def nll(p, t):
    return -(t * torch.log(p + 1e-7) + (1 - t) * torch.log(1 - p + 1e-7)).mean()

# In[3]:

alpha, mu = 0.1, 0.8
losses = []
total_loss = 0
for it in range(60):
    rows = torch.randint(0, N, (40,))
    loss = nll(predict(X[rows]), y[rows])
    losses.append(loss)
    total_loss += loss
    if (it + 1) % 3 == 0:            # three little batches make one update
        g_theta, g_b = torch.autograd.grad(total_loss / 3, [theta, b])
        velocity[0] = mu * velocity[0] + g_theta
        velocity[1] = mu * velocity[1] + g_b
        # new tensors, so requires_grad has to be switched on again
        theta = (theta - alpha * velocity[0]).detach().requires_grad_()
        b = (b - alpha * velocity[1]).detach().requires_grad_()
        total_loss = 0
        if (it + 1) % 15 == 0:
            print(it + 1, torch.stack(losses).mean().item())
        losses = []

# In[4]:

acc = ((predict(X) > 0.5).float() == y).float().mean()
print("theta", theta.tolist(), "b", b.item(), "accuracy", acc.item())
print("grad should be None (autograd.grad does not fill it):", theta.grad)
