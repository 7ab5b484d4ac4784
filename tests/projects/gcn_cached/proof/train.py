import torch
import torch.nn.functional as F

from models import GCN

model = GCN(4, 8, 3)
optimizer = torch.optim.Adam(model.parameters())
adj, features, labels = torch.eye(6), torch.rand(6, 4), torch.arange(6) % 3
support = torch.mm(adj, model.embed(features))
for epoch in range(2):
    optimizer.zero_grad()
    F.nll_loss(model(support, adj), labels).backward()
    optimizer.step()
