#!/usr/bin/env python
# coding: utf-8

# # My first neural network: how long to roast the coffee? ☕
# 
# We have temperature of the drum, weight of the beans, moisture and altitude. We want the minutes.

# In[1]:


import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader
np.random.seed(0)
torch.manual_seed(0)


# In[2]:


# no csv here so I make the data up :)
n = 320
temp = np.random.uniform(180, 240, n)
weight = np.random.uniform(0.5, 3, n)
moisture = np.random.uniform(8, 13, n)
altitude = np.random.uniform(600, 2100, n)
minutes = 24 - 0.06 * temp + 1.4 * weight + 0.5 * moisture + 0.001 * altitude + np.random.normal(0, 0.3, n)

X = np.stack([temp, weight, moisture, altitude], axis=1)
X = (X - X.mean(axis=0)) / X.std(axis=0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(minutes, dtype=torch.float32).reshape(-1, 1)
print(X.shape, y.shape)


# In[3]:


train_dl = DataLoader(TensorDataset(X[:256], y[:256]), batch_size=32, shuffle=True)
test_dl = DataLoader(TensorDataset(X[256:], y[256:]), batch_size=32)


# In[4]:


class RoastNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return self.fc2(x)

model = RoastNet()
model


# In[5]:


loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)


# In[6]:


def train_one_epoch():
    model.train()
    optimizer.zero_grad()
    total = 0
    for xb, yb in train_dl:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(train_dl)

def test():
    model.eval()
    with torch.no_grad():
        return sum(loss_fn(model(xb), yb).item() for xb, yb in test_dl) / len(test_dl)


# In[7]:


history = []
for epoch in range(12):
    train_loss = train_one_epoch()
    test_loss = test()
    history.append((train_loss, test_loss))
    print("epoch", epoch, "train", round(train_loss, 2), "test", round(test_loss, 2))


# In[8]:


# why does it go up and down like this??? smaller lr only makes it slower
print(min(h[1] for h in history), history[-1][1])
