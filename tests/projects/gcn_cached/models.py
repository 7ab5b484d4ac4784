import torch
import torch.nn as nn
import torch.nn.functional as F


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.embed = nn.Linear(nfeat, nhid)
        self.out = nn.Linear(nhid, nclass)

    def forward(self, support, adj):
        return F.log_softmax(torch.mm(adj, self.out(F.relu(support))), dim=1)
