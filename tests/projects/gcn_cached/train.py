from __future__ import division, print_function

import time

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
import torch.optim as optim

from models import GCN
from utils import accuracy, load_data

adj, features, labels = load_data()
model = GCN(nfeat=features.shape[1], nhid=8, nclass=int(labels.max()) + 1)
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
support = torch.mm(adj, model.embed(features))
for epoch in range(100):
    t = time.time()
    model.train()
    optimizer.zero_grad()
    output = model(support, adj)
    loss = F.nll_loss(output, labels)
    loss.backward()
    optimizer.step()
    print("Epoch: {:04d}".format(epoch + 1), "acc: {:.4f}".format(accuracy(output, labels)), "{:.4f}s".format(time.time() - t))
